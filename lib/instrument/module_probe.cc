// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/module_probe.h"

#include <bpf/btf.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/probe.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "lib/base/each_once.h"
#include "lib/base/parse.h"
#include "lib/base/suggest.h"
#include "lib/format/catalogue.h"
#include "lib/format/layer_mask.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

static_assert(FKT_PROBE_FIELDS == FKT_POINT_ARGUMENTS);

struct Number {
  const char* name;
  std::size_t bytes;
  int encoding;
};
constexpr Number kNumbers[] = {{"u8", 1, 0},
                               {"u16", 2, 0},
                               {"u32", 4, 0},
                               {"u64", 8, 0},
                               {"s8", 1, BTF_INT_SIGNED},
                               {"s16", 2, BTF_INT_SIGNED},
                               {"s32", 4, BTF_INT_SIGNED},
                               {"s64", 8, BTF_INT_SIGNED}};
constexpr int kLongestText = 64;

// The types, described as the kernel describes its own, so that programs are compiled in one way.
class MadeTypes {
 public:
  MadeTypes() : data_(btf__new_empty()) {
    if (!data_) return;
    for (const Number& number : kNumbers) {
      add(number.name, btf__add_int(data_.get(), number.name, number.bytes, number.encoding));
    }
    add("ptr", btf__add_ptr(data_.get(), 0));
    const int character = btf__add_int(data_.get(), "char", 1, BTF_INT_SIGNED);
    const int index = btf__add_int(data_.get(), "unsigned int", 4, 0);
    for (int bytes = 8; bytes <= kLongestText; bytes += 8) {
      const int array =
          btf__add_array(data_.get(), index, character, static_cast<std::uint32_t>(bytes));
      add("str" + std::to_string(bytes), btf__add_ptr(data_.get(), array));
    }
  }

  std::optional<TypeId> find(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<Btf> read() const {
    std::uint32_t bytes = 0;
    const void* const raw = data_ ? btf__raw_data(data_.get(), &bytes) : nullptr;
    if (raw == nullptr) return Error{ErrorCode::io, "out of memory"};
    return Btf::from_bytes(std::as_bytes(std::span(static_cast<const char*>(raw), bytes)));
  }

 private:
  struct Free {
    void operator()(btf* data) const { btf__free(data); }
  };

  void add(const std::string& name, int id) {
    if (id > 0) ids_.emplace(name, static_cast<TypeId>(id));
  }

  std::unique_ptr<btf, Free> data_;
  std::map<std::string, TypeId, std::less<>> ids_;
};

const MadeTypes& made_types() {
  static const MadeTypes types;
  return types;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_name_character);
}

// The events of these layers are FKT's own, so a probe cannot be in them.
constexpr unsigned kOwnLayers[] = {FKT_L_SYSTEM, FKT_L_FKT, FKT_L_PROCESS};

// Returns the bit of the layer with this name or bit. Error (usage): there is none, or no probe can
// be in it.
Result<unsigned> probe_layer(std::string_view text) {
  unsigned bit = 0;
  const Catalogue& catalogue = Catalogue::builtin();
  const Layer* const layer = parse_number(text, bit) ? catalogue.layer(bit) : catalogue.layer(text);
  if (layer == nullptr) {
    return Error{ErrorCode::usage,
                 "there is no layer " + in_quotes(text) + did_you_mean(text, layer_names())};
  }
  if (std::ranges::find(kOwnLayers, layer->bit) == std::end(kOwnLayers)) return layer->bit;
  return Error{ErrorCode::usage,
               "the layer \"" + layer->name + "\" is FKT's own, without modules' probes"};
}

class DescriptionParser {
 public:
  DescriptionParser(std::string_view module, std::string_view description) {
    probe_.module = module;
    probe_.description = description;
  }

  ModuleProbe parse() {
    std::string_view rest = probe_.description;
    if (!rest.starts_with(FKT_PROBE_MAGIC)) {
      probe_.wrong = "its description cannot be read, or is too long";
      return std::move(probe_);
    }
    rest.remove_prefix(std::string_view(FKT_PROBE_MAGIC).size());
    const std::string_view layer = take_until(rest, ' '), name = take_until(rest, ' ');
    if (!is_word(name)) return broken("its name is " + in_quotes(name));
    probe_.name = name;
    const Result<unsigned> known = probe_layer(layer);
    if (!known) return broken(known.error().message);
    probe_.layer = *known;
    while (!rest.empty()) {
      const std::string reason = add_field(take_until(rest, ' '));
      if (!reason.empty()) return broken(reason);
    }
    return std::move(probe_);
  }

 private:
  ModuleProbe broken(const std::string& reason) {
    probe_.wrong = "its description is broken: " + reason;
    return std::move(probe_);
  }

  // Returns what is wrong; empty: nothing.
  std::string add_field(std::string_view text) {
    std::string_view type_name = text;
    const std::string_view name = take_until(type_name, '=');
    if (!is_word(name)) return "no field " + in_quotes(text);
    if (std::ranges::find(probe_.fields, name, &Prototype::Argument::name) != probe_.fields.end()) {
      return "two fields " + in_quotes(name);
    }
    const auto type = made_types().find(type_name);
    if (!type) return "no type in " + in_quotes(text);
    if (probe_.fields.size() == FKT_PROBE_FIELDS) {
      return "more than " + std::to_string(FKT_PROBE_FIELDS) + " fields";
    }
    probe_.fields.push_back({std::string(name), *type});
    return {};
  }

  ModuleProbe probe_;
};

std::vector<ModuleProbe> each_once(std::vector<ModuleProbe> probes) {
  const auto key = [](const ModuleProbe& probe) {
    return std::tie(probe.module, probe.name, probe.description);
  };
  sort_each_once(probes, key);
  return probes;
}

}  // namespace

const Btf& probe_types() {
  static const Btf types = [] {
    Result<Btf> read = made_types().read();
    if (!read) throw std::bad_alloc();
    return std::move(*read);
  }();
  return types;
}

ModuleProbe parse_probe(std::string_view module, std::string_view description) {
  return DescriptionParser(module, description).parse();
}

std::vector<ModuleProbe> parse_probe_list(std::string_view lines) {
  std::vector<ModuleProbe> probes;
  for_each_line(lines, [&](std::string_view line, std::size_t) {
    const std::string_view module = take_until(line, '\t');
    probes.push_back(parse_probe(module, line));
    return true;
  });
  return each_once(std::move(probes));
}

std::string module_of_file(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view file = slash == path.npos ? path : path.substr(slash + 1);
  std::string name(file.substr(0, file.find(".ko")));
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<ModuleProbe> probes_in_file(const std::string& path, std::string_view contents) {
  // A description is a string of its own: a zero stands before it.
  const std::string begin = std::string(1, '\0') + FKT_PROBE_MAGIC;
  const std::string module = module_of_file(path);
  std::vector<ModuleProbe> probes;
  for (std::size_t at = contents.find(begin); at != contents.npos;
       at = contents.find(begin, at + 1)) {
    const std::string_view rest = contents.substr(at + 1, FKT_PROBE_TEXT_BYTES);
    const std::size_t end = rest.find('\0');
    if (end != rest.npos) probes.push_back(parse_probe(module, rest.substr(0, end)));
  }
  return each_once(std::move(probes));
}

}  // namespace fkt
