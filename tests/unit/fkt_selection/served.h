// SPDX-License-Identifier: GPL-2.0-only
// A recording that fkt_selection serves, for tests of its answers.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/fkt_selection/api.h"
#include "tests/unit/recording_builder.h"

namespace fkt::test {

struct Served {
  cli::Model model;
  cli::ExtractCommand extract_command;
  cli::Api api;
  explicit Served(const Bytes& file, std::string program = {}, std::string name = "run of mine.fkt")
      : model(std::move(*Recording::from_bytes(file)), std::move(name)),
        extract_command(model.file(), std::move(program),
                        model.recording().info().clocks.ticks_per_second()),
        api(model, extract_command) {
    model.start();
    model.wait();
  }
  nlohmann::json ask(std::string_view question, const cli::Parameters& parameters) const {
    const cli::Reply reply = api.answer(question, parameters);
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return nlohmann::json::parse(reply.body);
  }
  std::string refused(std::string_view question, const cli::Parameters& parameters) const {
    const cli::Reply reply = api.answer(question, parameters);
    CHECK(reply.status == 400);
    CHECK(std::ranges::count(reply.body, '\n') == 1);
    return reply.body;
  }
};

inline const cli::Parameters kWhole = {{"from", "0"}, {"to", "200000"}};

inline cli::Parameters with(cli::Parameters parameters, const cli::Parameters& more) {
  for (const auto& [name, value] : more) parameters[name] = value;
  return parameters;
}

}  // namespace fkt::test
