// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/async_facts.h"

#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "lib/report/event_format.h"

namespace fkt::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSectorBytes = 512;

class Sink : public StateObserver {
 public:
  Sink(const Model& model, std::uint64_t from, std::size_t most)
      : model_(model),
        timeline_(model.timeline()),
        catalogue_(timeline_.trace().info().catalogue),
        from_(from),
        most_(most),
        time_(TimeUnit::readable, timeline_.trace().info().clocks.ticks_per_second()),
        format_(timeline_.trace().info(), timeline_.tasks(), timeline_.types(), time_) {}

  void slice(const Slice&) override {}
  void event(const Event& event, TaskIndex, const SpanStep&) override {
    const EventType* const type = catalogue_.find(event.id);
    if (event.is_gap() || type == nullptr) return;
    if (type->field(event, "part") != nullptr) files_[place(*type, event)] = file(*type, event);
    const KeyedAsync* const async = type->async_of(event);
    if (async == nullptr || async->role != Role::begin || event.clock < from_) return;
    json facts = json::array();
    for (const Field& field : type->values_of(event)) {
      if (field.name == async->match || field.name == async->lane) continue;
      if (field.name == "ino") {
        add_file(facts, *type, event);
      } else {
        text_.clear();
        format_.field(text_, field, event, EventFormat::Names::raw);
        facts.push_back({field.name, text_.view()});
      }
    }
    found_.push_back({static_cast<std::int64_t>(event.clock - model_.zero()), event.cpu,
                      async->kind, std::move(facts)});
  }
  bool enough() const override { return found_.size() >= most_; }
  json take() { return std::move(found_); }

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
  // A request knows its disk, but not the partition, by whose number files are named: that is known
  // of what was handed in for its sectors.
  void add_file(json& facts, const EventType& type, const Event& event) {
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
    facts.push_back(path.empty() ? json{"inode", std::to_string(of.second)}
                                 : json{"file", text_.view()});
  }

  const Model& model_;
  const Timeline& timeline_;
  const Catalogue& catalogue_;
  const std::uint64_t from_;
  const std::size_t most_;
  TimeFormat time_;
  EventFormat format_;
  TextWriter text_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, File> files_;  // by disk and sector
  json found_ = json::array();
};

}  // namespace

json async_facts(const Model& model, std::uint64_t from, std::uint64_t to, std::size_t most) {
  // What is for a request was handed in before it, as a rule much less than a second.
  const auto second = static_cast<std::uint64_t>(model.trace().info().clocks.ticks_per_second());
  const std::uint64_t begin = model.timeline().begin();
  Sink sink(model, from, most);
  model.timeline().follow(from - std::min(from - std::min(from, begin), second), to, sink);
  return sink.take();
}

}  // namespace fkt::cli
