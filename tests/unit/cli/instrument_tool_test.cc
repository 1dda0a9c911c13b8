// SPDX-License-Identifier: GPL-2.0-only
// Tests fkt_instrument's table, and the files of its sets.
#include <catch2/catch.hpp>

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "cli/fkt_instrument/counts.h"
#include "cli/fkt_instrument/saved.h"
#include "lib/record/recorder_protocol.h"

using namespace fkt;
namespace fs = std::filesystem;

namespace {

// A folder that is the user's while the object lives.
class Home {
 public:
  Home() {
    REQUIRE(::mkdtemp(folder_.data()) != nullptr);
    ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  }
  ~Home() {
    ::unsetenv("XDG_CONFIG_HOME");
    fs::remove_all(folder_);
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_ = (fs::temp_directory_path() / "fkt-home-XXXXXX").string();
};

}  // namespace

TEST_CASE("the table of instruments has a row for each line") {
  CHECK(cli::counts_table("") ==
        "  N            KEPT         DROPPED       MISSED  PLACES  INSTRUMENT\n");
  CHECK(
      cli::counts_table("1\t700\t20\t0\t1\ttp:signal:signal_generate if sig == 10\n"
                        "12\t18446744073709551615\t0\t3\t0\tcall:vfs_*\n") ==
      "  N            KEPT         DROPPED       MISSED  PLACES  INSTRUMENT\n"
      "  1             700              20            0       1  tp:signal:signal_generate if sig "
      "== 10\n"
      " 12 18446744073709551615               0            3 removed  call:vfs_*\n");
}

TEST_CASE("a set comes back as it was saved") {
  const Home home;
  const std::string text = "call:vfs_*\ntp:signal:signal_generate do count\n";
  const Result<std::string> path = cli::save("slow", text);
  REQUIRE(path);
  CHECK(*path == home.folder() + "/fkt/slow.instruments");
  const Result<std::string> read = cli::read_saved("slow");
  REQUIRE(read);
  CHECK(*read == text);
  // Another one replaces it, and nothing else is left in the folder.
  REQUIRE(cli::save("slow", "call:x\n"));
  CHECK(*cli::read_saved("slow") == "call:x\n");
  CHECK(std::distance(fs::directory_iterator(home.folder() + "/fkt"), fs::directory_iterator()) ==
        1);
}

TEST_CASE("a name with a slash is a file") {
  const Home home;
  const std::string path = home.folder() + "/mine";
  REQUIRE(cli::save(path, "call:x\n"));
  CHECK(*cli::read_saved(path) == "call:x\n");
  CHECK_FALSE(cli::save(home.folder() + "/no/such/folder", "call:x\n"));
}

TEST_CASE("sets that cannot be read") {
  const Home home;
  CHECK_FALSE(cli::read_saved("never_saved"));
  CHECK_FALSE(cli::read_saved(home.folder() + "/"));
  const std::string path = home.folder() + "/long";
  std::ofstream(path) << std::string(InstrumentsAsk::kMostBytes + 1, 'x');
  const Result<std::string> read = cli::read_saved(path);
  REQUIRE_FALSE(read);
  CHECK(read.error().message == path + ": too long (at most 1 MiB)");
}
