// SPDX-License-Identifier: GPL-2.0-only
// Checks JSON against a schema of docs/. Debian has no C++ library for this draft of JSON Schema,
// so the few keywords that the schemas use are implemented here.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/unit/golden.h"

namespace fkt::test {

using Json = nlohmann::json;

inline bool is_type(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

// Implements the keywords that this project's schemas use; any other keyword fails.
class Schema {
 public:
  explicit Schema(Json root) : root_(std::move(root)) {}
  // Reads a schema from docs/.
  static Schema of(const std::string& name) {
    return Schema(Json::parse(contents(golden() / "../../docs" / name)));
  }
  // Returns an empty text, or where and why the value does not conform.
  std::string check(const Json& value) const { return check(value, root_, "$"); }

 private:
  std::string check(const Json& value, const Json& schema, const std::string& at) const {
    for (const auto& [word, rule] : schema.items()) {
      const std::string wrong = check_word(value, schema, word, rule, at);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  std::string check_word(const Json& value, const Json& schema, const std::string& word,
                         const Json& rule, const std::string& at) const {
    const std::string no = at + ": " + word;
    if (word == "$schema" || word == "title" || word == "$defs") return "";
    if (word == "$ref") {
      return check(value, root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), at);
    }
    if (word == "type") {
      const Json types = rule.is_array() ? rule : Json::array({rule});
      const bool fits = std::any_of(types.begin(), types.end(),
                                    [&](const Json& type) { return is_type(value, type); });
      return fits ? "" : no;
    }
    if (word == "enum") return std::find(rule.begin(), rule.end(), value) != rule.end() ? "" : no;
    if (word == "minimum") return !value.is_number() || value >= rule ? "" : no;
    if (word == "maximum") return !value.is_number() || value <= rule ? "" : no;
    if (word == "minLength") return value.get<std::string>().size() >= rule ? "" : no;
    if (word == "minItems") return value.size() >= rule ? "" : no;
    if (word == "required") {
      for (const std::string name : rule) {
        if (!value.contains(name)) return no + " " + name;
      }
      return "";
    }
    if (word == "properties" || word == "additionalProperties") {
      return check_members(value, schema.at("properties"), at);
    }
    if (word == "items") {
      for (std::size_t i = 0; i < value.size(); i++) {
        const std::string wrong = check(value[i], rule, at + "[" + std::to_string(i) + "]");
        if (!wrong.empty()) return wrong;
      }
      return "";
    }
    if (word == "oneOf") {
      std::string all;
      const auto fits = std::count_if(rule.begin(), rule.end(), [&](const Json& one) {
        const std::string wrong = check(value, one, at);
        all += " | " + wrong;
        return wrong.empty();
      });
      return fits == 1 ? "" : no + all;
    }
    return no + ": a word that this test does not know";
  }

  std::string check_members(const Json& value, const Json& members, const std::string& at) const {
    for (const auto& [name, member] : value.items()) {
      if (!members.contains(name)) return at + ": " + name + " is not in the schema";
      const std::string wrong = check(member, members.at(name), at + "." + name);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  Json root_;
};

// Runs a tool and parses the JSON that it prints.
inline Json printed(const std::vector<std::string>& arguments, Tool tool) {
  const Ran ran = run_tool(tool, "tool", arguments);
  REQUIRE(ran.status == 0);
  return Json::parse(ran.text);
}

}  // namespace fkt::test
