// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/async_facts.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lib/report/event_format.h"

namespace fkt::cli {
namespace {

constexpr std::uint64_t kSectorBytes = 512;

class Sink : public StateObserver {
 public:
  // cpu: of a span that begins there, the facts alone are written.
  Sink(JsonWriter& json, const Model& model, std::uint64_t from, std::size_t most,
       std::optional<std::uint32_t> cpu = {})
      : json_(json),
        model_(model),
        timeline_(model.timeline()),
        catalogue_(timeline_.recording().info().catalogue),
        from_(from),
        most_(most),
        cpu_(cpu),
        time_(TimeUnit::readable, timeline_.recording().info().clocks.ticks_per_second()),
        format_(timeline_.recording().info(), timeline_.tasks(), timeline_.types(), time_) {}

  void slice(const Slice&) override {}
  void event(const Event& event, TaskIndex, const SpanStep&) override {
    const EventType* const type = catalogue_.find(event.id);
    if (event.is_gap() || type == nullptr) return;
    if (type->field(event, "part") != nullptr) files_[place(*type, event)] = file(*type, event);
    const KeyedAsync* const async = type->async_of(event);
    if (async == nullptr || async->role != Role::begin || event.clock < from_) return;
    if (enough() || (cpu_ && *cpu_ != event.cpu)) return;
    found_++;
    const auto facts = [&] { json_.array([&] { put_facts(*type, *async, event); }); };
    if (cpu_) return facts();
    json_.row(static_cast<std::int64_t>(event.clock - model_.zero()), event.cpu, async->kind,
              facts);
  }
  bool enough() const override { return found_ >= most_; }

 private:
  using File = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

  static std::uint64_t value(const EventType& type, const Event& event, std::string_view name) {
    const Field* const field = type.field(event, name);
    return field == nullptr ? 0 : EventType::value(*field, event).value_or(0);
  }
  // The disk and the first sector.
  static std::pair<std::uint64_t, std::uint64_t> place(const EventType& type, const Event& event) {
    return {value(type, event, "dev"), value(type, event, "sector")};
  }
  static File file(const EventType& type, const Event& event) {
    return {value(type, event, "part"), value(type, event, "ino")};
  }
  void put_facts(const EventType& type, const KeyedAsync& async, const Event& event) {
    for (const Field& field : type.values_of(event)) {
      if (field.name == async.match || field.name == async.lane) continue;
      if (field.name == "ino") {
        put_file(type, event);
      } else {
        text_.clear();
        format_.field(text_, field, event, EventFormat::Names::raw);
        json_.row(field.name, text_.view());
      }
    }
  }
  // A request knows its disk, but not the partition, by whose number files are named: that is known
  // of what was handed in for its sectors.
  void put_file(const EventType& type, const Event& event) {
    File of{value(type, event, "dev"), value(type, event, "ino")};
    const auto first = place(type, event);
    const std::uint64_t sectors = value(type, event, "bytes") / kSectorBytes;
    const auto asked = files_.lower_bound(first);
    const bool is_for_it = asked != files_.end() && asked->first.first == first.first &&
                           asked->first.second - first.second < std::max<std::uint64_t>(1, sectors);
    if (is_for_it && asked->second.second != 0) of = asked->second;
    if (of.second == 0) return;
    const std::string_view path = timeline_.file_names().find(of.first, of.second);
    text_.clear();
    text_.escaped(path);
    path.empty() ? json_.row("inode", std::to_string(of.second)) : json_.row("file", text_.view());
  }

  JsonWriter& json_;
  const Model& model_;
  const Timeline& timeline_;
  const Catalogue& catalogue_;
  const std::uint64_t from_;
  const std::size_t most_;
  const std::optional<std::uint32_t> cpu_;
  TimeFormat time_;
  EventFormat format_;
  TextWriter text_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, File> files_;  // by disk and sector
  std::size_t found_ = 0;
};

void follow(const Model& model, std::uint64_t from, std::uint64_t to, Sink& sink) {
  // What is for a request was handed in before it, as a rule much less than a second.
  const auto second =
      static_cast<std::uint64_t>(model.recording().info().clocks.ticks_per_second());
  const std::uint64_t begin = model.timeline().begin();
  model.timeline().follow(from - std::min(from - std::min(from, begin), second), to, sink);
}

}  // namespace

void put_async_facts(JsonWriter& json, const Model& model, std::uint64_t from, std::uint64_t to,
                     std::size_t most) {
  Sink sink(json, model, from, most);
  json.array([&] { follow(model, from, to, sink); });
}

void put_facts_of_span(JsonWriter& json, const Model& model, std::uint64_t from,
                       std::uint32_t cpu) {
  Sink sink(json, model, from, 1, cpu);
  follow(model, from, from + 1, sink);
  if (!sink.enough()) json.row();
}

}  // namespace fkt::cli
