// SPDX-License-Identifier: GPL-2.0-only
// Answers the requests of the web page as JSON. Independent of HTTP except for status codes, so it
// can be tested without a server.
//
// Times are ticks since the start of the recording, as in fkt_print and fkt_extract.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/fkt_selection/early_part.h"
#include "cli/fkt_selection/extract_command.h"
#include "cli/fkt_selection/model.h"
#include "lib/base/json_writer.h"
#include "lib/base/result.h"
#include "lib/timeline/occurrence_search.h"

namespace fkt::cli {

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

using Parameters = std::map<std::string, std::string>;

class Api {
 public:
  // Both references must stay valid.
  Api(const Model& model, const ExtractCommand& extract_command)
      : model_(model), extract_command_(extract_command), early_part_(model) {}

  // Answers the request `name`: "info", "density" and so on. Status 404 for unknown names, 400 with
  // one line for bad parameters, 202 with {"reading": share} while the data is not read yet (the
  // statistics of the whole recording come before that, without what its tasks waited; then answers
  // about short parts, with "early" in lanes and slowest, whose numbers of tasks and types are
  // others), and
  // 202 with "overtaken" if the page has sent a newer request with this name: one with a greater
  // parameter "turn".
  Reply answer(std::string_view name, const Parameters& parameters) const;

  // The time that a request is about.
  struct AskedRange {
    std::uint64_t from = 0, to = 0;  // ticks of the recording's clock
  };
  // Returns the answer "info" of a file that holds a part of the recording.
  std::string info_of(const std::string& file, const AskedRange& part) const;

 private:
  using Answer = Result<std::string> (Api::*)(const Parameters&, const Unwanted&) const;

  Result<std::string> info(const Parameters&, const Unwanted&) const;
  Result<std::string> status(const Parameters&, const Unwanted&) const;
  Result<std::string> density(const Parameters&, const Unwanted&) const;
  Result<std::string> lanes(const Parameters&, const Unwanted&) const;
  Result<std::string> events(const Parameters&, const Unwanted&) const;
  Result<std::string> stats(const Parameters&, const Unwanted&) const;
  Result<std::string> histogram(const Parameters&, const Unwanted&) const;
  Result<std::string> next(const Parameters&, const Unwanted&) const;
  Result<std::string> slowest(const Parameters&, const Unwanted&) const;
  Result<std::string> hits(const Parameters&, const Unwanted&) const;
  Result<std::string> slice(const Parameters&, const Unwanted&) const;
  Result<std::string> extract(const Parameters&, const Unwanted&) const;

  bool early(const Parameters& parameters) const;
  Result<std::string> early_stats() const;
  bool has_cpus() const;
  Reply unread(std::string_view name, const Parameters& parameters) const;
  Result<Unwanted> take_turn(std::string_view name, const Parameters&) const;
  Result<AskedRange> asked_range(const Parameters&) const;
  Result<TimeScale> scale(const Parameters&) const;
  Result<std::uint64_t> moment(const Parameters&, const char* name) const;
  Result<std::string> name(const Parameters&) const;
  Result<std::string> timed_name(const Parameters&) const;
  Error nothing_called(const std::string& name) const;
  NameMatch match(std::string_view name) const;
  std::int64_t since_zero(std::uint64_t clock) const;
  void put(JsonWriter&, const Occurrence& occurrence) const;
  void put(JsonWriter&, const std::optional<Slice>& slice) const;
  void put(JsonWriter&, const Wake& wake, std::uint64_t asleep) const;
  // Writes the members that tell a task.
  void put_task(JsonWriter&, TaskIndex task) const;

  const Model& model_;
  const ExtractCommand& extract_command_;
  mutable EarlyPart early_part_;
  // Per page and request name, the number of the latest request; protected by turns_mutex_.
  mutable std::mutex turns_mutex_;
  mutable std::map<std::string, std::shared_ptr<std::atomic<std::uint64_t>>> turns_;
};

}  // namespace fkt::cli
