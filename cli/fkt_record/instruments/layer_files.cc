// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/layer_files.h"

#include <fkt/events.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"
#include "lib/base/text_writer.h"
#include "lib/format/catalogue.h"
#include "lib/format/layer_mask.h"

namespace fkt::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnFolder = "/etc/fkt/layers";  // the administrator's

// Returns where the lists of layers may be, the first choice first.
std::vector<fs::path> folders() {
  std::vector<fs::path> folders{kOwnFolder};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().parent_path() / "share/fkt/layers");
  return folders;
}

std::optional<std::string> find_list(const std::string& layer) {
  for (const fs::path& folder : folders()) {
    const fs::path path = folder / (layer + ".layer");
    std::error_code error;
    if (fs::exists(path, error)) return path.string();
  }
  return std::nullopt;
}

Result<LayerFile> read_list(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostWritten);
  if (!text) return Error{ErrorCode::usage, text.error().message};
  return LayerFile::parse(*text, path);
}

// Adds the layer's own list if it has one. -i makes that of the layer instruments.
Status add_layer(std::string_view option, const Layer& layer, LayerChoice& choice) {
  choice.mask |= 1ULL << layer.bit;
  if (!is_list_layer(layer.bit) || layer.bit == FKT_L_INSTRUMENTS) return Done{};
  const std::optional<std::string> path = find_list(layer.name);
  if (!path) {
    std::string places;
    for (const fs::path& folder : folders()) {
      places += (places.empty() ? "" : " nor ") + folder.string();
    }
    return Error{ErrorCode::usage, std::string(option) + " " + layer.name + ": no file " +
                                       layer.name + ".layer in " + places};
  }
  Result<LayerFile> file = read_list(*path);
  if (!file) return file.error();
  if (file->bit != layer.bit) {
    return Error{ErrorCode::usage,
                 *path + ": this file is of layer " + file->layer + ", not of layer " + layer.name};
  }
  choice.files.push_back(std::move(*file));
  return Done{};
}

Status add_part(std::string_view option, std::string_view part, LayerChoice& choice) {
  if (part.find('/') != part.npos) {
    auto file = FKT_TRY(read_list(std::string(part)));
    choice.mask |= 1ULL << file.bit;
    choice.files.push_back(std::move(file));
    return Done{};
  }
  const auto mask = FKT_TRY(parse_mask(option, part));
  for (const Layer& layer : Catalogue::builtin().layers()) {
    if ((mask & 1ULL << layer.bit) == 0) continue;
    FKT_TRY(add_layer(option, layer, choice));
  }
  return Done{};
}

}  // namespace

void LayerChoice::add(LayerChoice other) {
  mask |= other.mask;
  for (LayerFile& file : other.files) {
    if (std::ranges::find(files, file.path, &LayerFile::path) == files.end()) {
      files.push_back(std::move(file));
    }
  }
}

Result<LayerChoice> choose_layers(std::string_view option, std::string_view text) {
  LayerChoice choice;
  do {
    LayerChoice part;
    FKT_TRY(add_part(option, take_until(text, ','), part));
    choice.add(std::move(part));
  } while (!text.empty());
  return choice;
}

std::string layers_text() {
  TextWriter out;
  for (const Layer& layer : Catalogue::builtin().layers()) {
    std::string from = "the module";
    if (layer.bit == FKT_L_INSTRUMENTS) {
      from = "-i";
    } else if (is_list_layer(layer.bit)) {
      from = find_list(layer.name).value_or("(no " + layer.name + ".layer)");
    }
    out.right(std::to_string(layer.bit), 2);
    out.put(' ');
    out.left(layer.name, 12);
    out.put(from);
    out.put(": ");
    out.put(layer.text);
    out.put('\n');
  }
  return std::string(out.view());
}

}  // namespace fkt::record
