// SPDX-License-Identifier: GPL-2.0-only
// A temporary directory for a test's files, removed by the destructor.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>

namespace fkt::test {

class Folder {
 public:
  Folder();
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }
  std::set<std::string> names() const;

 private:
  std::filesystem::path path_;
};

void write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace fkt::test
