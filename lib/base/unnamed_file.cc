// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "lib/base/os_error.h"

namespace fkt {

Result<UniqueFd> unnamed_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder && *folder ? folder : "/tmp") + "/fkt-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return os_failure("cannot make a temporary file " + name);
  ::unlink(name.c_str());
  return file;
}

}  // namespace fkt
