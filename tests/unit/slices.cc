// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/slices.h"

namespace fkt::test {

Bytes slice_of(const Recording& trace, const std::vector<Interval>& stretches,
               const SliceOptions& options) {
  std::FILE* out = std::tmpfile();
  REQUIRE(out != nullptr);
  const auto written = write_slice(trace, stretches, fileno(out), "slice", options);
  REQUIRE(written);
  std::string text(written->bytes, '\0');
  CHECK(pread(fileno(out), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  std::fclose(out);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes slice_of(const Bytes& file, const std::vector<Interval>& stretches,
               std::uint64_t copy_ahead) {
  const Recording trace = opened(file);
  return slice_of(trace, stretches, {.reading = {}, .cache = nullptr, .copy_ahead = copy_ahead});
}

Bytes slice_of(const Bytes& file, std::uint64_t from, std::uint64_t to, std::uint64_t copy_ahead) {
  return slice_of(file, std::vector<Interval>{{from, to}}, copy_ahead);
}

std::string of_time(const std::string& report) {
  std::string out;
  std::istringstream in(report);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("This file:")) line.replace(0, 10, "Selected: ");
    if (!line.starts_with("Recording:") && !line.starts_with("the drain by its own")) {
      out += line + '\n';
    }
  }
  return out;
}

}  // namespace fkt::test
