// SPDX-License-Identifier: GPL-2.0-only
// Readers of the members of JSON sections. If a key is missing, or its value has another type or
// range, `out` stays unchanged. Not installed, as lib/format/json.h.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

namespace fkt {

template <class T>
void get(const nlohmann::json& object, const char* key, T& out) {
  static_assert(std::is_integral_v<T>);
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return;
  if (found->is_number_unsigned()) {
    const auto value = found->template get<std::uint64_t>();
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
      out = static_cast<T>(value);
    }
  } else if (const auto value = found->template get<std::int64_t>();
             std::is_signed_v<T> &&
             value >= static_cast<std::int64_t>(std::numeric_limits<T>::min())) {
    out = static_cast<T>(value);
  }
}

inline void get(const nlohmann::json& object, const char* key, bool& out) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  if (found->is_boolean()) {
    out = found->get<bool>();
  } else if (found->is_number_unsigned()) {
    out = found->get<std::uint64_t>() != 0;
  }
}

inline void get(const nlohmann::json& object, const char* key, std::string& out) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_string()) out = found->get<std::string>();
}

inline void get(const nlohmann::json& object, const char* key, std::vector<std::string>& out) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return;
  out.clear();
  for (const nlohmann::json& element : *found) {
    if (element.is_string()) out.push_back(element.get<std::string>());
  }
}

// Calls `each` for every object in the array that is the member `key`.
template <class Each>
void for_each_object(const nlohmann::json& json, const char* key, Each each) {
  const auto list = json.find(key);
  if (list == json.end() || !list->is_array()) return;
  for (const nlohmann::json& element : *list) {
    if (element.is_object()) each(element);
  }
}

}  // namespace fkt
