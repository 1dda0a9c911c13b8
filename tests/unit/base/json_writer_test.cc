// SPDX-License-Identifier: GPL-2.0-only
// Tests lib/base/json_writer.h: commas, values, and digits like those of nlohmann-json.
#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "lib/base/json_writer.h"

using namespace fkt;

namespace {

using Form = JsonWriter::Form;

template <class Write>
std::string written(Form form, Write write) {
  TextWriter out;
  JsonWriter json(out, form);
  write(json);
  return out.take();
}

void everything(JsonWriter& json) {
  const std::optional<int> none, three = 3;
  json.object([&] {
    json.members("text", "a\"\x1b", "yes", true, "least", INT64_MIN, "most", UINT64_MAX);
    json.members("none", none, "three", three, "null", nullptr, "list", std::vector{1, 2});
    json.key("rows").array([&] {
      json.row(1, "x", [&] { json.row(); });
      json.begin_line();
      json.object("in", [](JsonWriter& inner) { inner.object([] {}); });
    });
    json.key("raw").value().put("1.50");
  });
}

}  // namespace

TEST_CASE("members are separated, and brackets are closed, in both forms") {
  CHECK(written(Form::compact, everything) ==
        R"({"text":"a\"\u001b","yes":true,"least":-9223372036854775808,)"
        R"("most":18446744073709551615,"none":null,"three":3,"null":null,"list":[1,2],)"
        R"("rows":[[1,"x",[]],)"
        "\n"
        R"({"in":{}}],"raw":1.50})");
  const auto document = nlohmann::ordered_json::parse(written(Form::compact, everything));
  CHECK(nlohmann::ordered_json::parse(written(Form::indented, everything)) == document);
  CHECK(written(Form::indented, [](JsonWriter& json) {
          json.object("a", 1, "b", std::vector<int>{}, "c", std::vector{2, 3});
        }) == "{\n \"a\": 1,\n \"b\": [],\n \"c\": [\n  2,\n  3\n ]\n}");
  CHECK(json_object("a", 1, "b", 2.5) == R"({"a":1,"b":2.5})");
}

TEST_CASE("numbers with a fraction have the fewest digits that tell them apart") {
  const auto text = [](double number) {
    return written(Form::compact, [&](JsonWriter& json) { json.put(number); });
  };
  for (const double number : {0.0, 2.0, -0.5, 1e-4, 9.99e-5, 123456.789, 1e14, 1e15, 1e300}) {
    CHECK(text(number) == nlohmann::json(number).dump());
  }
  CHECK(text(1 / 0.0) == "null");
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; i++) {
    const double number = static_cast<double>(random() >> 20) / 1e6;
    CHECK(nlohmann::json::parse(text(number)).get<double>() == number);
    CHECK(text(number).size() <= nlohmann::json(number).dump().size());
  }
}
