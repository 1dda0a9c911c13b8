// SPDX-License-Identifier: GPL-2.0-only
// Tests the overview as a picture and as text.
#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/core.h>

#include "cli/fkt_selection/png.h"
#include "lib/picture/overview.h"
#include "lib/picture/svg.h"
#include "tests/golden/recordings.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::cli;
using namespace fkt::test;

TEST_CASE("ticks stand at multiples of a round step, also where a double cannot tell them apart") {
  CHECK(tick_places(0, 1, 5) == std::vector<double>{0, .2, .2 * 2, .2 * 3, .8, 1});
  CHECK(tick_places(-0.25, 1, 2) == std::vector<double>{0, .5});
  CHECK(tick_places(3.1, 0.3, 1).empty());
  CHECK(tick_places(4.6e9, 1e-8, 10).size() <= 11);
}

TEST_CASE("the picture of many CPUs has low rows, and no word of losses where there are none") {
  RecordingBuilder b;
  for (std::uint32_t cpu = 0; cpu < 256; cpu++) {
    b.event(cpu, RecordingBuilder::kStart + cpu, FKT_E_SOFTIRQ_RAISE, 1);
  }
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  const TimeScale scale{RecordingBuilder::kStart, recording_end(*trace) + 1, 60};
  const std::string svg =
      Overview(*trace, density_from_index(trace->pages(), scale), {}, RecordingBuilder::kStart)
          .svg();
  const std::size_t height = svg.find(" height=\"") + 9;
  CHECK(std::stoul(svg.substr(height)) < 4000);
  CHECK(svg.find("cpu 255") != std::string::npos);
  CHECK(svg.find("events lost") == std::string::npos);
}

TEST_CASE("the overview as a picture and as text") {
  const Result<Recording> trace = Recording::from_bytes(broken_recording());
  PassControl control;
  const Density density(*trace, 1, control);
  const TimeScale scale{RecordingBuilder::kStart, recording_end(*trace) + 1, 60};
  const Overview overview(*trace, density.cells(scale), gaps_in(density.gaps(), scale),
                          RecordingBuilder::kStart);
  const std::string svg = overview.svg();
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("cpu 1") != std::string::npos);
  CHECK(svg.find("#d62728", svg.find("cpu 0")) != std::string::npos);
  const std::string text = overview.text();
  CHECK(text.find("cpu 0   ") == 0);
  CHECK(text.find('x') != std::string::npos);
  CHECK(text.find("events lost there, 1234 in all") != std::string::npos);
  // The fullest column has so many events; each line ends with the mean of its CPU.
  std::uint64_t most = 0, all = 0;
  const DensityCells cells = density.cells(scale);
  for (std::uint32_t cell = 0; cell < scale.cells; cell++) {
    for (std::size_t cpu = 0; cpu < cells.cpus.size(); cpu++) {
      std::uint64_t sum = 0;
      for (std::size_t layer = 0; layer < cells.width(); layer++) sum += cells.at(cpu, layer, cell);
      most = std::max(most, sum);
      if (cpu == 0) all += sum;
    }
  }
  const double seconds = static_cast<double>(scale.to - scale.from) / 1e9;
  INFO(text);
  const double highest = static_cast<double>(most * scale.cells) / seconds;
  CHECK(text.find(fmt::format("full height: {:.2f} M events/s", highest / 1e6)) !=
        std::string::npos);
  const double mean = static_cast<double>(all) / seconds;
  CHECK(text.find(fmt::format(" {:.0f} k/s\n", mean / 1e3)) != std::string::npos);
  const Overview in_us(*trace, density.cells(scale), {}, RecordingBuilder::kStart, {},
                       TimeUnit::us);
  const std::string times = in_us.text();
  CHECK(times.find("\n        0.000 us ") != std::string::npos);
  CHECK(text.find(" us") == std::string::npos);
  if (!png_available()) return;
  const Result<std::string> png = png_of(svg);
  REQUIRE(png);
  CHECK(std::string_view(*png).substr(1, 3) == "PNG");
  CHECK_FALSE(png_of("<svg"));
}
