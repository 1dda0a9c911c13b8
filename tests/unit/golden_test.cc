// SPDX-License-Identifier: GPL-2.0-only
// fkt_print on the small recordings of tests/golden, against the text beside them (the file `cases`
// there). FKT_GOLDEN_WRITE=1 writes both anew.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <errno.h>
#include <unistd.h>

#include "cli/fkt_extract/extract.h"
#include "cli/fkt_print/print.h"
#include "tests/golden/recordings.h"

using namespace fkt;
using namespace fkt::test;

namespace {

std::filesystem::path golden() {
  return std::filesystem::path(__FILE__).parent_path().parent_path() / "golden";
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool writing() {
  return std::getenv("FKT_GOLDEN_WRITE") != nullptr;
}

void compare(const std::filesystem::path& path, const std::string& text) {
  if (writing()) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  INFO(path);
  CHECK(contents(path) == text);
}

// Standard output and standard error go to a file while this lives.
class Captured {
 public:
  Captured() : file_(std::tmpfile()), out_(dup(STDOUT_FILENO)), err_(dup(STDERR_FILENO)) {
    std::fflush(stdout);
    dup2(fileno(file_), STDOUT_FILENO);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~Captured() {
    restore();
    std::fclose(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() {
    restore();
    std::string text(static_cast<std::size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
    const ssize_t got = pread(fileno(file_), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

 private:
  void restore() {
    if (out_ < 0) return;
    std::fflush(stdout);
    dup2(out_, STDOUT_FILENO);
    dup2(err_, STDERR_FILENO);
    close(out_);
    close(err_);
    out_ = -1;
  }

  std::FILE* file_;
  int out_, err_;
};

struct Ran {
  int status;
  std::string text;
};

using Tool = int (*)(int argc, const char* const* argv);

Ran run(Tool tool, std::string name, const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{name.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  char* const before = program_invocation_short_name;
  program_invocation_short_name = name.data();  // messages begin with it
  Captured captured;
  const int status = tool(static_cast<int>(argv.size()), argv.data());
  program_invocation_short_name = before;
  return {status, captured.text()};
}

std::string as_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("the golden recordings are those that recordings.h makes", "[golden]") {
  compare(golden() / "find.fkt", as_text(find_recording()));
  compare(golden() / "broken.fkt", as_text(broken_recording()));
}

TEST_CASE("fkt_print says of the golden recordings what it is to say", "[golden]") {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(golden());
  std::ifstream cases("cases");
  std::size_t count = 0;
  for (std::string line; std::getline(cases, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    int status = -1;
    words >> name >> status;
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    const Ran ran = run(cli::print_recording, "fkt_print", arguments);
    INFO(line);
    CHECK(ran.status == status);
    compare(name, ran.text);
    count++;
  }
  std::filesystem::current_path(before);
  CHECK(count > 10);
}

TEST_CASE("the manual pages have every option that the tools' help has") {
  for (const auto& [name, tool] : {std::pair{"fkt_print", Tool{cli::print_recording}},
                                   std::pair{"fkt_extract", Tool{cli::extract_slice}}}) {
    const Ran help = run(tool, name, {"--help"});
    CHECK(help.status == 0);
    std::string plain;
    for (const char c : contents(golden() / "../../man" / (std::string(name) + ".1"))) {
      if (c != '\\') plain += c;
    }
    std::istringstream words(help.text);
    std::size_t options = 0;
    for (std::string word; words >> word;) {
      if (word.size() < 2 || word[0] != '-') continue;
      if (word.back() == ',' || word.back() == ':') word.pop_back();
      INFO(name << " " << word);
      CHECK(plain.find(word) != std::string::npos);
      options++;
    }
    CHECK(options > 8);
  }
}
