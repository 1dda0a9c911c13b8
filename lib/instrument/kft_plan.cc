// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/kft_plan.h"

#include <fkt/kft_parse.h>
#include <fkt/text_fits.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "lib/base/text.h"
#include "lib/query/expression.h"

namespace fkt {
namespace {

// Set while a run of a configuration that repeats lasts.
constexpr const char* kRuns = "kft_runs";
// Set for a task while it is in the function of "filter caller".
constexpr const char* kInside = "kft_inside";

// "a, b and c"
std::string enumerate(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); i++) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

// The functions that one instrument is on.
struct Group {
  std::string place;  // behind "call:", without what is left out
  bool is_pattern = false;
  std::uint64_t mintime = 0;  // ns
  std::string words;          // in the explanation

  // Returns whether the name, which may be a pattern, fits all functions that this is on.
  bool is_covered_by(const std::string& name) const {
    // Where a pattern is the text, its `*` must meet a `*`.
    if (is_pattern && name.find('?') != name.npos) return name == place;
    return fkt_text_fits(place.c_str() + (place.rfind(':') + 1), name.c_str()) != 0;
  }
};

class Planner {
 public:
  Planner(std::string_view text, const std::string& path, const FunctionAt& function_at)
      : text_(text), path_(path), function_at_(function_at) {}

  Result<KftPlan> plan() {
    fkt_kft_error error{};
    const auto size = static_cast<__u32>(std::min<std::size_t>(text_.size(), UINT32_MAX));
    if (fkt_kft_parse(text_.data(), size, config_.get(), &error) == 0) {
      return Error{ErrorCode::usage, path_ + ':' + std::to_string(error.line) + ':' +
                                         std::to_string(error.column) + ": " + error.message};
    }
    Status done = triggers();
    if (done) done = prime();
    if (done) done = caller();
    if (done) done = watch();
    if (done) done = records();
    if (!done) return done.error();
    plan_.overwrites = says(FKT_KFT_OVERWRITE);
    entries();
    if (plan_.overwrites) {
      plan_.explanation.push_back(
          "when the buffer is full, the oldest calls are overwritten: the file has the newest "
          "ones");
    }
    return std::move(plan_);
  }

 private:
  bool says(fkt_kft_key key) const { return fkt_kft_says(config_.get(), key) != 0; }
  bool repeats() const { return says(FKT_KFT_AUTOREPEAT); }
  std::string word(const fkt_kft_word& word) const {
    return std::string(text_.substr(word.at, word.bytes));
  }
  Error wrong(const fkt_kft_word& at, const std::string& what) const {
    return {ErrorCode::usage,
            path_ + ':' + std::to_string(at.line) + ':' + std::to_string(at.column) + ": " + what};
  }

  // Adds the instrument of the line, which users see, too.
  Status add(const std::string& line) {
    Result<Instrument> instrument = Instrument::parse(line);
    if (!instrument) {
      return Error{ErrorCode::usage, "--kft: " + line + ": " + instrument.error().message};
    }
    plan_.instruments.push_back(std::move(*instrument));
    return Done{};
  }

  Result<std::string> name_of(const fkt_kft_function& function) const {
    if (function.kind != FKT_KFT_ADDRESS) return word(function.word);
    Result<std::string> name = function_at_(function.address);
    if (!name) return wrong(function.word, name.error().message);
    return name;
  }

  // The duration that mintime and maxtime limit: its name in conditions, and its description.
  const char* time() const { return says(FKT_KFT_CPUTIME) ? "cputime" : "duration"; }
  const char* took() const { return says(FKT_KFT_CPUTIME) ? "were on the CPU for" : "took"; }

  // ---- triggers ----

  Status triggers() {
    Status done = trigger(config_->start, true);
    if (done) done = trigger(config_->stop, false);
    return done;
  }

  Status trigger(const fkt_kft_trigger& trigger, bool is_start) {
    switch (trigger.moment) {
      case FKT_KFT_NEVER:
        plan_.explanation.emplace_back(!is_start ? "it ends when the command does, or with Ctrl-C"
                                       : fkt_kft_is_primed_late(config_.get()) != 0
                                           ? "the recording begins when it is primed"
                                           : "the recording begins at once");
        return Done{};
      case FKT_KFT_TIME:
        return at_time(trigger, is_start);
      default:
        return by_hit(trigger, is_start);
    }
  }

  Status at_time(const fkt_kft_trigger& trigger, bool is_start) {
    const std::chrono::nanoseconds time(static_cast<std::int64_t>(trigger.time));
    if (is_start) {
      plan_.begins_at = time;
      plan_.explanation.push_back("the recording begins, and the command is run, " +
                                  time_text(trigger.time) +
                                  " after the machine's start; at once if that is over");
      return Done{};
    }
    plan_.lasts = time;
    plan_.explanation.push_back("it ends " + time_text(trigger.time) + " after its begin");
    return Done{};
  }

  // The line without its action, and what it means: "kernel_clone is entered and cpu == 1".
  struct Hit {
    std::string line, words;
  };

  Result<Hit> hit_of(const fkt_kft_trigger& trigger) const {
    const auto name = FKT_TRY(name_of(trigger.function));
    const bool at_entry = trigger.moment == FKT_KFT_ENTRY;
    Hit hit{at_entry ? "fn:" + name + ":entry" : "call:" + name,
            name + (at_entry ? " is entered" : " returns")};
    const std::string condition = word(trigger.condition);
    if (condition.empty()) return hit;
    const auto parsed =
        Expression::parse(condition, ExpressionSyntax::hit, trigger.condition.column);
    if (!parsed) return wrong(trigger.condition, parsed.error().message);
    hit.line += " if " + condition;
    hit.words += " and " + condition;
    return hit;
  }

  Status by_hit(const fkt_kft_trigger& trigger, bool is_start) {
    auto hit = FKT_TRY(hit_of(trigger));
    if (repeats()) {
      hit.line += std::string(is_start ? " do set " : " do clear ") + kRuns;
    } else {
      hit.line += is_start ? " do start" : " do stop";
    }
    plan_.waits_for_hit |= is_start && !repeats();
    FKT_TRY(add(hit.line));
    plan_.explanation.push_back(std::string(repeats()  ? "a run "
                                            : is_start ? "the recording "
                                                       : "it ") +
                                (is_start ? "begins when " : "ends when ") + hit.words +
                                (repeats() ? ", each time" : ""));
    return Done{};
  }

  // Behind the triggers, so that a hit which primes them is not theirs, too. Without a trigger
  // start by a hit, it is the hit that begins the recording.
  Status prime() {
    if (fkt_kft_is_primed_late(config_.get()) == 0) return Done{};
    std::string words = "it is primed ";
    if (config_->prime.moment == FKT_KFT_TIME) {
      const std::chrono::nanoseconds time(static_cast<std::int64_t>(config_->prime.time));
      plan_.begins_at = std::max(plan_.begins_at.value_or(time), time);
      words +=
          time_text(config_->prime.time) +
          " after the machine's start, or at once if that is over; nothing is seen before, and "
          "the command is not run";
    } else {
      auto hit = FKT_TRY(hit_of(config_->prime));
      FKT_TRY(add(hit.line + (plan_.waits_for_hit ? " do prime" : " do start")));
      plan_.waits_for_hit = true;
      words += "when " + hit.words + "; triggers are not seen before";
    }
    plan_.explanation.insert(plan_.explanation.begin(), std::move(words));
    return Done{};
  }

  void entries() {
    if (!says(FKT_KFT_LOGENTRIES)) return;
    plan_.most_calls = config_->logentries;
    plan_.explanation.push_back(plan_.overwrites
                                    ? "the buffer has room for the newest " +
                                          std::to_string(config_->logentries) + " calls"
                                    : "it ends when it has " + std::to_string(config_->logentries) +
                                          " calls, or soon after");
  }

  // ---- what is recorded ----

  // What ends a call of the function comes after the call itself was recorded.
  Status caller() {
    if (!says(FKT_KFT_CALLER)) return Done{};
    const auto name = FKT_TRY(name_of(config_->caller));
    caller_ = name;
    FKT_TRY(add("fn:" + name + ":entry do set " + kInside + " of task"));
    return add("call:" + name + " do clear " + kInside + " of task");
  }

  Status watch() {
    if (!says(FKT_KFT_WATCH)) return Done{};
    const bool is_worst = config_->is_worst_stack != 0;
    FKT_TRY(add("fn:*:entry if stack_left < " + std::to_string(config_->stack) +
                (repeats() ? std::string(" && ") + kRuns : "") +
                (is_worst ? " && stack_left < lowest_stack" : "") + " do stack"));
    plan_.explanation.push_back("whichever function is entered with less than " +
                                std::to_string(config_->stack) + " bytes of stack left" +
                                (is_worst ? ", and less than ever before" : "") +
                                ": its entry and the call stack are recorded");
    return Done{};
  }

  // Returns the limit as a condition has it, and what it means.
  std::pair<std::string, std::string> explained(const fkt_kft_limit& limit) const {
    const std::string number = std::to_string(limit.most), most = time_text(limit.most);
    const std::string task = word(config_->task);
    const bool is_pattern = task.find_first_of("*?") != task.npos;
    switch (limit.key) {
      case FKT_KFT_AUTOREPEAT:
        return {kRuns, ""};
      case FKT_KFT_CALLER:
        return {kInside, "of " + caller_ + " and what it has called, in the same task"};
      case FKT_KFT_MAXTIME:
        return {time() + (" <= " + most), "that " + std::string(took()) + " at most " + most};
      case FKT_KFT_MINTIME:
        return {time() + (" >= " + time_text(limit.least)), ""};
      case FKT_KFT_STOP:
        return {"since_start <= " + most, ""};
      case FKT_KFT_DEPTH:
        return {"depth <= " + number, "at most " + number + " of them deep in their task"};
      case FKT_KFT_NOINTS:
        return {"context == task", "not in interrupts"};
      case FKT_KFT_ONLYINTS:
        return {"context != task", "only in interrupts"};
      case FKT_KFT_CPU:
        return {"cpu == " + number, "on CPU " + number};
      case FKT_KFT_TASK:
        return {(is_pattern ? "task ~ \"" : "task == \"") + task + '"', "by task " + task};
      case FKT_KFT_UID:
        return {"uid == " + number, "by user " + number};
      default:
        return {"cgroup == " + number, "in cgroup " + number};
    }
  }

  // Returns the condition of functions with this minimum. words: set to what it means beside that.
  std::string condition_of(std::uint64_t mintime, std::vector<std::string>& words) const {
    std::array<fkt_kft_limit, FKT_KFT_LIMITS> limits;
    const std::uint32_t count = fkt_kft_limits(config_.get(), mintime, limits.data());
    std::string condition;
    words.clear();
    for (const fkt_kft_limit& limit : std::span(limits).first(count)) {
      const auto [term, meaning] = explained(limit);
      condition += (condition.empty() ? " if " : " && ") + term;
      if (!meaning.empty()) words.push_back(meaning);
    }
    return condition;
  }

  // function: nullptr: all functions.
  Result<Group> group_of(const fkt_kft_function* function) const {
    Group group{"*", function == nullptr || function->is_pattern != 0, config_->mintime,
                "all functions"};
    if (function == nullptr) return group;
    if (function->has_mintime != 0) group.mintime = function->mintime;
    if (function->kind == FKT_KFT_MODULE) {
      group.place = word(function->word) + ":*";
      group.words = "all functions of module " + word(function->word);
    } else {
      group.place = group.words = FKT_TRY(name_of(*function));
    }
    return group;
  }

  // Returns the groups in their order: a function belongs to the first group that fits.
  Result<std::vector<Group>> groups() const {
    std::vector<Group> each;
    for (std::uint32_t i = 0; i < config_->group_count; i++) {
      Group group = FKT_TRY(group_of(fkt_kft_group(config_.get(), i)));
      const bool is_there = std::ranges::find(each, group.place, &Group::place) != each.end();
      if (!is_there) each.push_back(std::move(group));
    }
    return each;
  }

  Result<std::vector<std::string>> left_out() const {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < config_->function_count; i++) {
      const fkt_kft_function& function = config_->functions[i];
      if (function.is_left_out == 0) continue;
      if (function.kind == FKT_KFT_MODULE) {
        return wrong(function.word, "a module cannot be left out: name its functions (!ext4_*)");
      }
      const auto name = FKT_TRY(name_of(function));
      names.push_back(name);
    }
    return names;
  }

  // The groups without those that are left out as a whole.
  Result<std::vector<Group>> remaining_groups(const std::vector<std::string>& left_out) const {
    Result<std::vector<Group>> all = groups();
    if (!all) return all.error();
    std::erase_if(*all, [&](const Group& group) {
      return std::ranges::any_of(
          left_out, [&](const std::string& name) { return group.is_covered_by(name); });
    });
    if (!all->empty()) return all;
    const std::span functions(config_->functions, config_->function_count);
    return wrong(std::ranges::find(functions, 1, &fkt_kft_function::is_left_out)->word,
                 "all functions of the configuration are left out: nothing would be recorded");
  }

  Status records() {
    const auto names_left_out = FKT_TRY(left_out());
    const auto listed = FKT_TRY(remaining_groups(names_left_out));
    std::string without;  // ",!a,!b"
    for (const std::string& name : names_left_out) without += ",!" + name;
    std::vector<std::string> words;
    const bool untimed = says(FKT_KFT_UNTIMED);
    std::uint64_t last = UINT64_MAX;
    std::vector<std::string> alike;
    for (const Group& group : listed) {
      FKT_TRY(add((untimed ? "fn:" : "call:") + group.place +
                  (group.is_pattern ? without : std::string()) +
                  condition_of(group.mintime, words)));
      if (group.mintime != last && !alike.empty()) explain(alike, last);
      last = group.mintime;
      alike.push_back(group.words);
    }
    explain(alike, last);
    keep();
    if (!names_left_out.empty()) {
      plan_.explanation.push_back("not recorded is " + enumerate(names_left_out));
    }
    if (!words.empty()) plan_.explanation.push_back("all of that only " + enumerate(words));
    return Done{};
  }

  void keep() {
    if (!says(FKT_KFT_KEEP)) return;
    const auto levels = static_cast<std::uint32_t>(config_->keep_depth);
    const auto percent = static_cast<std::uint32_t>(config_->keep_percent);
    plan_.keep = KeepChildren{levels, percent};
    plan_.explanation.push_back(plan_.keep->words());
  }

  void explain(std::vector<std::string>& functions, std::uint64_t mintime) {
    const std::string of = enumerate(functions);
    const bool untimed = says(FKT_KFT_UNTIMED);
    plan_.explanation.push_back(
        (untimed ? "the entries and exits of " : "the calls of ") + of + " are recorded" +
        (mintime == 0 ? "" : " that " + std::string(took()) + " at least " + time_text(mintime)));
    functions.clear();
  }

  std::string_view text_;
  const std::string& path_;
  const FunctionAt& function_at_;
  std::unique_ptr<fkt_kft_config> config_ = std::make_unique<fkt_kft_config>();
  KftPlan plan_;
  std::string caller_;  // empty: none
};

}  // namespace

Result<KftPlan> plan_kft(std::string_view text, const std::string& path,
                         const FunctionAt& function_at) {
  return Planner(text, path, function_at).plan();
}

std::string time_text(std::uint64_t ns) {
  constexpr std::pair<std::uint64_t, const char*> kUnits[] = {
      {1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}};
  for (const auto& [unit, name] : kUnits) {
    if (ns % unit == 0) return std::to_string(ns / unit) + name;
  }
  return std::to_string(ns) + "ns";
}

}  // namespace fkt
