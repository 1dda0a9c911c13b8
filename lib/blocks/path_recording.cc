// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/path_recording.h"

#include <unordered_map>
#include <vector>

#include "lib/read/event_merge.h"

namespace fkt {
namespace {

class PathReader {
 public:
  PathReader(const RecordingInfo& info, const FunctionPaths& paths, PathProfile& profile)
      : catalogue_(info.catalogue), paths_(paths), profile_(profile) {}

  void add(const Event& event) {
    if (event.id == kGapBegins) return profile_.begin_gap();
    if (event.id == FKT_W_LOST) return profile_.end_gap(event.clock);
    const EventType* const type = catalogue_.find(event.id);
    const bool is_way = event.id == FKT_E_INSTRUCTION;
    if (type == nullptr ||
        (!is_way && type->file_id() != FKT_E_CALL && type->file_id() != FKT_E_CALL_LONG)) {
      return;
    }
    const Field* const field = type->field(FieldUse::key);
    const auto key = field == nullptr ? std::nullopt : EventType::value(*field, event);
    if (!key) return;
    const std::uint32_t what = meaning(is_way, *key, catalogue_.name(*field, *key));
    if (what == kOther) return;
    // Each CPU has an idle thread.
    const std::uint64_t thread =
        event.pid != 0 ? event.pid : std::uint64_t{event.cpu} << 32 | (std::uint64_t{1} << 63);
    if (is_way) {
      profile_.take(thread, event.clock, what);
    } else if (type->role == Role::begin) {
      begun_[thread].push_back(type->late ? event.words[0] : event.clock);
    } else {
      end(thread, event, type->late);
    }
  }

 private:
  static constexpr std::uint32_t kOther = UINT32_MAX, kCall = UINT32_MAX - 1;

  // Returns the number of the way, or kCall; kOther: it is of no interest.
  std::uint32_t meaning(bool is_way, std::uint64_t key, std::string_view name) {
    const auto [found, is_new] = meanings_.try_emplace(key << 1 | is_way, kOther);
    if (!is_new) return found->second;
    if (is_way) {
      found->second = paths_.way_named(name).value_or(kOther);
    } else if (name == paths_.graph().function().name) {
      found->second = kCall;
    }
    return found->second;
  }

  void end(std::uint64_t thread, const Event& event, bool is_late) {
    auto& begun = begun_[thread];
    if (begun.empty()) return profile_.add_unclear_call();
    const std::uint64_t begin = begun.back();
    begun.pop_back();
    profile_.end_call(thread, begin, is_late ? begin + event.words[0] : event.clock);
  }

  const Catalogue& catalogue_;
  const FunctionPaths& paths_;
  PathProfile& profile_;
  std::unordered_map<std::uint64_t, std::uint32_t> meanings_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> begun_;  // clocks, by thread
};

}  // namespace

void read_paths(const Recording& recording, const FunctionPaths& paths, PathProfile& profile) {
  PathReader reader(recording.info(), paths, profile);
  for (const Event& event : recording.events()) reader.add(event);
}

}  // namespace fkt
