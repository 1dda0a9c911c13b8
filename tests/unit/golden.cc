// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/golden.h"

namespace fkt::test {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void compare(const std::filesystem::path& path, const std::string& text) {
  if (writing()) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  INFO(path);
  CHECK(contents(path) == text);
}

Captured::Captured() : file_(std::tmpfile()), out_(dup(STDOUT_FILENO)), err_(dup(STDERR_FILENO)) {
  std::fflush(stdout);
  dup2(fileno(file_), STDOUT_FILENO);
  dup2(fileno(file_), STDERR_FILENO);
}

Captured::~Captured() {
  restore();
  std::fclose(file_);
}

std::string Captured::text() {
  restore();
  std::string text(static_cast<std::size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
  const ssize_t got = pread(fileno(file_), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

void Captured::restore() {
  if (out_ < 0) return;
  std::fflush(stdout);
  dup2(out_, STDOUT_FILENO);
  dup2(err_, STDERR_FILENO);
  close(out_);
  close(err_);
  out_ = -1;
}

Ran run_tool(Tool tool, const char* name, const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{name};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::string copy = name;
  char* const before = program_invocation_short_name;
  program_invocation_short_name = copy.data();
  Captured captured;
  const int status = tool(static_cast<int>(argv.size()), argv.data());
  program_invocation_short_name = before;
  return {status, captured.text()};
}

std::size_t run_cases(const char* file, Tool tool, const char* name) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(golden());
  std::ifstream cases(file);
  std::size_t count = 0;
  for (std::string line; std::getline(cases, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string expected;
    int status = -1;
    words >> expected >> status;
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    const Ran ran = run_tool(tool, name, arguments);
    INFO(line);
    CHECK(ran.status == status);
    compare(expected, ran.text);
    count++;
  }
  std::filesystem::current_path(before);
  return count;
}

std::size_t check_manual(Tool tool, const std::string& name) {
  const Ran help = run_tool(tool, name.c_str(), {"--help"});
  CHECK(help.status == 0);
  std::string plain;
  for (const char c : contents(golden() / ("../../man/" + name + ".1"))) {
    if (c != '\\') plain += c;
  }
  std::istringstream words(help.text);
  std::size_t options = 0;
  for (std::string word; words >> word;) {
    if (word.size() < 2 || word[0] != '-') continue;
    if (word.back() == ',' || word.back() == ':') word.pop_back();
    INFO(word);
    CHECK(plain.find(word) != std::string::npos);
    options++;
  }
  return options;
}

}  // namespace fkt::test
