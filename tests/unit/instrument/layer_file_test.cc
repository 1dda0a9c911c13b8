// SPDX-License-Identifier: GPL-2.0-only
// Tests files that list the instruments of a layer, among them those that are installed.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <fkt/events.h>

#include "lib/format/layer_mask.h"
#include "lib/instrument/layer_file.h"

using namespace fkt;

namespace {

LayerFile made_file(const std::string& text) {
  const Result<LayerFile> file = LayerFile::parse(text, "x.layer");
  INFO((file ? "" : file.error().message));
  REQUIRE(file);
  return *file;
}

std::string file_refusal(const std::string& text) {
  const Result<LayerFile> file = LayerFile::parse(text, "x.layer");
  return file ? "made" : file.error().message;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("comments, alternatives and what may be missing") {
  const LayerFile file = made_file(
      "# comment\n"
      "\n"
      "layer block   # which one\n"
      "call:vfs_read(count) ret\n"
      "  or call:vfs_readv ret   # a comment\n"
      "? tp:sched:sched_switch(next.comm) if next.comm == \"a # b\"\n"
      "? or tp:sched:sched_wakeup\r\n");
  REQUIRE(file.lines.size() == 4);
  CHECK(file.path == "x.layer");
  CHECK(file.layer == "block");
  CHECK(file.bit == FKT_L_BLOCK);
  CHECK(file.lines[0].number == 4);
  CHECK(file.lines[0].instrument.text == "call:vfs_read(count) ret");
  CHECK_FALSE(file.lines[0].is_alternative);
  CHECK_FALSE(file.lines[0].may_be_missing);
  CHECK(file.lines[1].is_alternative);
  CHECK(file.lines[1].instrument.text == "call:vfs_readv ret");
  CHECK(file.lines[2].may_be_missing);
  CHECK(file.lines[2].instrument.condition->text().find("a # b") != std::string::npos);
  CHECK(file.lines[3].may_be_missing);
  CHECK(file.lines[3].is_alternative);
  CHECK(file.lines[3].instrument.text == "tp:sched:sched_wakeup");
}

TEST_CASE("a file that names no layer has that of -i") {
  const LayerFile file = made_file("call:vfs_read\n");
  CHECK(file.layer == "instruments");
  CHECK(file.bit == FKT_L_INSTRUMENTS);
}

TEST_CASE("wrong layer files are told with line and column") {
  CHECK(file_refusal("") == "x.layer: no instrument: write one per line, as call:vfs_read ret");
  CHECK(file_refusal("layer fs\n\n  call:vfs_read(count) rat\n") ==
        "x.layer:3:24: \"rat\" where \"ret\", \"as\", \"if\" or \"do\" should stand");
  CHECK(file_refusal("? or cal:vfs_read\n") ==
        "x.layer:1:1: \"or\" stands before an alternative to the line above it");
  CHECK(file_refusal("call:vfs_read\nor ? call:x\n").starts_with("x.layer:2:4: \"?\" is no place"));
  CHECK(file_refusal("layer blok\n") ==
        "x.layer:1:7: \"blok\" is no layer of instruments; did you mean \"block\"?");
  CHECK(file_refusal("layer system\n")
            .starts_with("x.layer:1:7: \"system\" is no layer of instruments"));
  CHECK(file_refusal("call:vfs_read\nlayer fs\n") ==
        "x.layer:2:7: a file is for one layer, which it names before its instruments");
  CHECK(file_refusal("layer fs block\n") ==
        "x.layer:1:10: \"block\" where the end of the line should stand");
  CHECK(file_refusal("call:a ret\ncall:a\n# comment\n ? call:a ret # again\n") ==
        "x.layer:4:2: line 1 has it already");
  CHECK(file_refusal("?\n") == "x.layer:1:1: an instrument is missing, as call:vfs_read");
  CHECK(file_refusal("or\n") == "x.layer:1:1: an instrument is missing, as call:vfs_read");
}

TEST_CASE("each layer of instruments has its list") {
  const std::filesystem::path folder = std::filesystem::path(FKT_SOURCE_DIR) / "layers";
  std::set<std::string> layers;
  std::map<std::string, std::string> places;  // and the list that has it
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".layer") continue;
    CAPTURE(entry.path().string());
    const Result<LayerFile> file = LayerFile::parse(read(entry.path()), entry.path().string());
    INFO((file ? "" : file.error().message));
    REQUIRE(file);
    CHECK(file->layer == entry.path().stem().string());
    layers.insert(file->layer);
    for (const LayerLine& line : file->lines) {
      const std::string& text = line.instrument.text;
      CAPTURE(text);
      const std::string place = text.substr(0, text.find_first_of(" ("));
      // A function belongs to the first list that has it, so that another one would lack it.
      const bool may_repeat =
          line.is_alternative || line.instrument.place.kind == Place::Kind::tracepoint;
      CHECK((places.emplace(place, file->layer).second || may_repeat));
    }
  }
  std::set<std::string> wanted;
  for (const std::string& name : list_layer_names()) wanted.insert(name);
  wanted.erase("instruments");
  CHECK(layers == wanted);
}
