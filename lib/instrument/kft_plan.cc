// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/kft_plan.h"

#include <fkt/kft_parse.h>
#include <fkt/text_fits.h>

#include <algorithm>
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
  std::string place;       // behind "call:", without what is left out
  std::uint32_t rank = 0;  // fkt_kft_rank()
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
                                       : is_primed_late() ? "the recording begins when it is primed"
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
    plan_.instruments.push_back(std::move(hit.line));
    plan_.explanation.push_back(std::string(repeats()  ? "a run "
                                            : is_start ? "the recording "
                                                       : "it ") +
                                (is_start ? "begins when " : "ends when ") + hit.words +
                                (repeats() ? ", each time" : ""));
    return Done{};
  }

  bool is_primed_late() const {
    return config_->prime.moment != FKT_KFT_NEVER && config_->prime.moment != FKT_KFT_NOW;
  }

  // Behind the triggers, so that a hit which primes them is not theirs, too. Without a trigger
  // start by a hit, it is the hit that begins the recording.
  Status prime() {
    if (!is_primed_late()) return Done{};
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
      plan_.instruments.push_back(hit.line + (plan_.waits_for_hit ? " do prime" : " do start"));
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
    plan_.instruments.push_back("fn:" + name + ":entry do set " + kInside + " of task");
    plan_.instruments.push_back("call:" + name + " do clear " + kInside + " of task");
    caller_ = name;
    return Done{};
  }

  Status watch() {
    if (!says(FKT_KFT_WATCH)) return Done{};
    const bool is_worst = config_->is_worst_stack != 0;
    plan_.instruments.push_back("fn:*:entry if stack_left < " + std::to_string(config_->stack) +
                                running(" && ") +
                                (is_worst ? " && stack_left < lowest_stack" : "") + " do stack");
    plan_.explanation.push_back("whichever function is entered with less than " +
                                std::to_string(config_->stack) + " bytes of stack left" +
                                (is_worst ? ", and less than ever before" : "") +
                                ": its entry and the call stack are recorded");
    return Done{};
  }

  std::string running(const std::string& before) const {
    return repeats() ? before + kRuns : std::string();
  }

  // Conditions that do not depend on the function, and what they mean.
  void add_common(std::vector<std::string>& terms, std::vector<std::string>& words) const {
    const fkt_kft_config& c = *config_;
    const auto add = [&](std::string term, std::string meaning) {
      terms.push_back(std::move(term));
      words.push_back(std::move(meaning));
    };
    if (repeats()) terms.emplace_back(kRuns);
    if (!caller_.empty())
      add(kInside, "of " + caller_ + " and what it has called, in the same task");
    if (c.maxtime != 0) {
      add(time() + (" <= " + time_text(c.maxtime)),
          "that " + std::string(took()) + " at most " + time_text(c.maxtime));
    }
    if (says(FKT_KFT_DEPTH)) {
      const std::string depth = std::to_string(c.depth);
      add("depth <= " + depth, "at most " + depth + " of them deep in their task");
    }
    if (says(FKT_KFT_NOINTS)) add("context == task", "not in interrupts");
    if (says(FKT_KFT_ONLYINTS)) add("context != task", "only in interrupts");
    if (says(FKT_KFT_CPU)) {
      add("cpu == " + std::to_string(c.cpu), "on CPU " + std::to_string(c.cpu));
    }
    if (says(FKT_KFT_TASK)) {
      const std::string name = word(c.task);
      const bool is_pattern = name.find_first_of("*?") != name.npos;
      add("task " + std::string(is_pattern ? "~" : "==") + " \"" + name + '"', "by task " + name);
    }
    if (says(FKT_KFT_UID)) {
      add("uid == " + std::to_string(c.uid), "by user " + std::to_string(c.uid));
    }
    if (says(FKT_KFT_CGROUP)) {
      add("cgroup == " + std::to_string(c.cgroup), "in cgroup " + std::to_string(c.cgroup));
    }
    if (plan_.lasts) {
      terms.push_back("since_start <= " +
                      time_text(static_cast<std::uint64_t>(plan_.lasts->count())));
    }
  }

  // function: nullptr: all functions.
  Result<Group> group_of(const fkt_kft_function* function) const {
    Group group{"*", fkt_kft_rank(text_.data(), function),
                fkt_kft_is_pattern(text_.data(), function) != 0, config_->mintime, "all functions"};
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
    std::vector<Group> all;
    for (const fkt_kft_function& function :
         std::span(config_->functions, config_->function_count)) {
      if (function.is_left_out == 0) all.push_back(FKT_TRY(group_of(&function)));
    }
    if (!says(FKT_KFT_FUNCLIST)) all.push_back(FKT_TRY(group_of(nullptr)));
    std::ranges::stable_sort(all, {}, &Group::rank);
    std::vector<Group> each;
    for (Group& group : all) {
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
    std::vector<std::string> common, words;
    add_common(common, words);
    const bool untimed = says(FKT_KFT_UNTIMED);
    std::uint64_t last = UINT64_MAX;
    std::vector<std::string> alike;
    for (const Group& group : listed) {
      std::vector<std::string> terms = common;
      if (group.mintime != 0) terms.push_back(time() + (" >= " + time_text(group.mintime)));
      std::string line =
          (untimed ? "fn:" : "call:") + group.place + (group.is_pattern ? without : std::string());
      for (std::size_t i = 0; i < terms.size(); i++) line += (i == 0 ? " if " : " && ") + terms[i];
      plan_.instruments.push_back(std::move(line));
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
