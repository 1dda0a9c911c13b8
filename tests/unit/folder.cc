// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/folder.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace fkt::test {

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "fkt_test_XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

std::set<std::string> Folder::names() const {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.insert(entry.path().filename());
  }
  return names;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

}  // namespace fkt::test
