// SPDX-License-Identifier: GPL-2.0-only
// replay PATH...: gives each file, and each file of a folder, to one fuzz target, without
// libFuzzer: any compiler builds it, so the unit tests can run it. A finding ends the process, and
// the last line printed names the file. Fails if a path has no file.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(path)) {
    files.push_back(path);
  } else if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

void replay(const fs::path& file) {
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  // Exactly as large as the input: address sanitizer then sees a read behind its end.
  const auto bytes = std::make_unique<std::uint8_t[]>(text.size());
  std::ranges::copy(text, bytes.get());
  LLVMFuzzerTestOneInput(bytes.get(), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; i++) {
    const std::vector<fs::path> files = files_of(argv[i]);
    for (const fs::path& file : files) replay(file);
    if (files.empty()) {
      std::fprintf(stderr, "replay: %s: no file\n", argv[i]);
      return 1;
    }
    count += files.size();
  }
  std::printf("%zu files\n", count);
  return count > 0 ? 0 : 2;
}
