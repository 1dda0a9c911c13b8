// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/why_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "lib/analyse/call_subjects.h"
#include "lib/base/size_text.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/report/event_format.h"
#include "lib/report/io_report.h"
#include "lib/report/path_report.h"

namespace fkt {
namespace {

using Doing = TaskActivity::Doing;

constexpr double kLeastShare = 0.5;        // percent of the call that a part has to be
constexpr std::size_t kMostRan = 3;        // tasks that ran meanwhile
constexpr std::size_t kMostAhead = 3;      // kinds of requests that were ahead
constexpr std::size_t kMostFunctions = 6;  // that the call called
constexpr std::size_t kHeadLines = 2;
constexpr std::size_t kDetailIndent = 19;
constexpr std::size_t kNoNode = ~std::size_t{0};

// A part of the path: all steps, or waits, of one kind in the place of one wait, by threads of one
// name of a process.
struct Node {
  std::size_t parent = kNoNode;
  std::size_t depth = 0;
  TaskIndex task = kNoTask;   // that does it, the first of them
  TaskIndex owner = kNoTask;  // whose doings the place has, likewise
  bool is_wait = false;       // its parts follow
  bool several = false;       // threads do it
  std::uint64_t ticks = 0, longest = 0, count = 0;
  std::vector<std::size_t> steps;  // or waits; their places in the path
  std::size_t longest_at = 0;      // that of the longest
};

// The parts of a path. A part is after the one whose place it takes.
class CallParts {
 public:
  explicit CallParts(const SlowCall& call) : call_(call) {
    const CriticalPath& path = call.path();
    for (std::size_t i = 0; i < path.waits.size(); i++) add_wait(i);
    for (std::size_t i = 0; i < path.steps.size(); i++) {
      const PathStep& step = path.steps[i];
      const auto doing = static_cast<std::uint32_t>(step.doing);
      const bool slept = step.doing == Doing::asleep || step.doing == Doing::disk;
      add({parent(step.wait), alike(step.task), false, step.call, step.by_interrupt,
           slept ? step.waker : ~doing},
          step.task, i, step.to - step.from);
    }
  }
  const std::vector<Node>& all() const { return all_; }
  // The parts in the place of this one, longest first; kNoNode: those of the call itself.
  std::vector<std::size_t> inside(std::size_t node) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < all_.size(); i++) {
      if (all_[i].parent == node) found.push_back(i);
    }
    std::ranges::stable_sort(found, std::greater{}, [&](std::size_t i) { return all_[i].ticks; });
    return found;
  }

 private:
  // Parent, task, is_wait, call, by_interrupt, waker or else what the task did.
  using Key = std::tuple<std::size_t, TaskIndex, bool, TypeIndex, bool, std::uint32_t>;

  std::size_t parent(std::uint32_t wait) const { return wait == kNoWait ? kNoNode : waits_[wait]; }
  // Returns the first task of the process with this one's name.
  TaskIndex alike(TaskIndex task) {
    const Tasks& tasks = call_.analysis().tasks();
    const TaskIndex leader = tasks[task].leader == kNoTask ? task : tasks[task].leader;
    return alike_.try_emplace(std::pair(leader, std::string(tasks.name(task))), task).first->second;
  }
  // Threads that wait for each other in turn, as for a lock, are one part and not a stair.
  void add_wait(std::size_t at) {
    const PathWait& wait = call_.path().waits[at];
    const std::size_t around = parent(wait.wait);
    const TaskIndex task = alike(wait.task), waker = alike(wait.waker);
    if (around != kNoNode && task == waker && all_[around].task == task) {
      const PathWait& outer = call_.path().waits[all_[around].longest_at];
      if (alike(outer.waker) == task && outer.call == wait.call) {
        all_[around].count++;
        all_[around].several = true;
        all_[around].steps.push_back(at);
        waits_.push_back(around);
        return;
      }
    }
    waits_.push_back(
        add({around, task, true, wait.call, false, waker}, wait.task, at, wait.to - wait.from));
  }
  std::size_t add(const Key& key, TaskIndex task, std::size_t at, std::uint64_t ticks) {
    const auto [found, is_new] = by_key_.try_emplace(key, all_.size());
    if (is_new) {
      Node& node = all_.emplace_back();
      node.parent = std::get<0>(key);
      node.task = std::get<1>(key);
      node.is_wait = std::get<2>(key);
      const bool inner = node.parent != kNoNode;
      node.depth = inner ? all_[node.parent].depth + 1 : 0;
      node.owner = inner ? alike(call_.path().waits[all_[node.parent].longest_at].waker)
                         : alike(call_.span().index);
    }
    Node& node = all_[found->second];
    node.several |= task != node.task;
    node.ticks += ticks;
    node.count++;
    node.steps.push_back(at);
    if (ticks >= node.longest) {
      node.longest = ticks;
      node.longest_at = at;
    }
    return found->second;
  }

  const SlowCall& call_;
  std::vector<Node> all_;
  std::vector<std::size_t> waits_;  // the part of each wait of the path
  std::map<Key, std::size_t> by_key_;
  std::map<std::pair<TaskIndex, std::string>, TaskIndex> alike_;
};

// Texts about one call.
class Texts {
 public:
  Texts(const SlowCall& call, const TimeFormat& time)
      : call_(call), analysis_(call.analysis()), time_(time) {}

  std::string task(TaskIndex task) const {
    if (task == kNoTask) return "nobody known";
    if (analysis_.tasks()[task].idle) return std::string(analysis_.tasks().name(task));
    return fmt::format("{} ({})", analysis_.tasks().name(task), analysis_.tasks()[task].tid);
  }
  // "threads of app (7)"
  std::string threads(TaskIndex one) const {
    return fmt::format("threads of {} ({})", analysis_.tasks().name(one),
                       analysis_.tasks()[one].tgid);
  }
  bool same_name(TaskIndex one, TaskIndex other) const {
    return analysis_.tasks()[one].tgid == analysis_.tasks()[other].tgid &&
           analysis_.tasks().name(one) == analysis_.tasks().name(other);
  }
  std::string ticks(std::uint64_t ticks) const {
    const std::string_view unit = time_.unit();
    return time_.text(ticks) + (unit.empty() ? "" : " " + std::string(unit));
  }
  std::string moment(std::uint64_t clock) const {
    return time_.of_moments().text(clock - std::min(clock, analysis_.start()));
  }
  // What a part is, without details.
  std::string what(const Node& node) const {
    std::string who;
    if (node.task != node.owner) who = (node.several ? threads(node.task) : task(node.task)) + " ";
    if (!node.is_wait) return who + step_text(call_.path().steps[node.longest_at], analysis_);
    const PathWait& wait = call_.path().waits[node.longest_at];
    const std::string in =
        wait.call == kNoType ? "" : " in " + std::string(call_name(analysis_, wait.call));
    const bool each_other = node.several && same_name(wait.task, wait.waker);
    return who + "asleep" + in + " until " + (each_other ? threads(wait.waker) : task(wait.waker)) +
           " woke it:";
  }
  std::vector<std::string> details(const Node& node) const {
    if (node.is_wait) return of_wait(node);
    const PathStep& step = call_.path().steps[node.longest_at];
    if (step.doing == Doing::ready) return of_cpu(node);
    const bool slept = step.doing == Doing::asleep || step.doing == Doing::disk;
    const DiskRequest* const request = slept ? call_.request(step.task, step.to) : nullptr;
    if (request == nullptr) return {};
    return of_request(*request, node.count > 1 ? fmt::format("longest of {}: ", node.count) : "");
  }
  std::vector<std::string> of_request(const DiskRequest& request, const std::string& before) const {
    std::vector<std::string> lines;
    std::string file(call_.file_names().find(request.file_device, request.file));
    if (!file.empty()) file = " for " + file;
    lines.push_back(before + operation(request) + file + ", by " + task(request.task));
    std::string times =
        request.queued == 0 ? "" : "queued " + ticks(request.issued - request.queued) + ", ";
    times += request.completed == 0 ? "not completed"
                                    : "served " + ticks(request.completed - request.issued);
    if (request.failed) times += ", FAILED";
    lines.push_back(times + ahead(request));
    return lines;
  }
  // "write of 4.1 kB, vda at 2105352"
  std::string operation(const DiskRequest& request) const {
    const std::string what = IoUse::name(IoUse::operation(request.flags), false);
    const std::string device = device_name(analysis_.info(), request.device);
    if (request.bytes == 0) return what + " of " + device;
    return fmt::format("{} of {}, {} at {}", what, bytes_text(request.bytes), device,
                       request.sector);
  }
  struct Ahead {
    std::string what;
    TaskIndex task = kNoTask;
    std::uint64_t count = 0, bytes = 0;
  };
  std::vector<Ahead> ahead_of(const DiskRequest& request) const {
    std::map<std::pair<TaskIndex, IoUse::What>, Ahead> sums;
    for (const DiskRequest* other : call_.ahead_of(request)) {
      const IoUse::What what = IoUse::operation(other->flags);
      Ahead& sum = sums[{other->task, what}];
      sum.what = IoUse::name(what, false);
      sum.task = other->task;
      sum.count++;
      sum.bytes += other->bytes;
    }
    std::vector<Ahead> all;
    for (const auto& [key, sum] : sums) all.push_back(sum);
    std::ranges::stable_sort(all, std::greater{}, &Ahead::count);
    return all;
  }
  // Who ran on the CPU in all steps of the part, most time first.
  std::vector<SlowCall::Ran> ran(const Node& node) const {
    std::map<std::pair<std::uint32_t, TaskIndex>, std::uint64_t> sums;
    for (const std::size_t at : node.steps) {
      for (const SlowCall::Ran& ran : call_.ran_meanwhile(call_.path().steps[at])) {
        sums[{ran.cpu, ran.task}] += ran.ticks;
      }
    }
    std::vector<SlowCall::Ran> all;
    for (const auto& [key, ticks] : sums) all.push_back({key.first, key.second, ticks});
    std::ranges::stable_sort(all, std::greater{}, &SlowCall::Ran::ticks);
    return all;
  }
  // The call with its file, peer or arguments, and its result.
  std::string title() const {
    std::string text = call_.span().name;
    const std::string about = subject();
    if (!about.empty()) text += '(' + about + ')';
    const Event* const own = call_.own_event() ? &*call_.own_event() : nullptr;
    const EventType* const type = own ? analysis_.info().catalogue.find(own->id) : nullptr;
    const Field* const ret = type ? type->field(*own, "ret") : nullptr;
    if (ret != nullptr) text += " = " + value(*ret, *own);
    return text;
  }
  std::string file() const {
    return call_.file() ? file_text(analysis_.info(), call_.file_names(), *call_.file()) : "";
  }
  std::string peer() const { return call_.socket() ? socket_text(*call_.socket()) : ""; }

 private:
  std::string subject() const {
    std::string what = call_.span().about;
    if (what.empty()) what = file();
    if (what.empty()) what = peer();
    return what.empty() ? own_arguments() : what;
  }
  // The values of a function's event but its result.
  std::string own_arguments() const {
    if (!call_.own_event()) return {};
    const Event& event = *call_.own_event();
    const EventType* const type = analysis_.info().catalogue.find(event.id);
    std::string text;
    for (const Field& field : type->values_of(event)) {
      if (field.name == "ret") continue;
      text += (text.empty() ? "" : ", ") + field.name + '=' + value(field, event);
    }
    return text;
  }
  std::string value(const Field& field, const Event& event) const {
    TextWriter out;
    EventFormat(analysis_, time_).field(out, field, event, EventFormat::Names::raw);
    return out.take();
  }
  static std::string plural(std::uint64_t count, const std::string& what) {
    return what + (count == 1 ? "" : what.ends_with("sh") ? "es" : "s");
  }
  std::string ahead(const DiskRequest& request) const {
    const std::vector<Ahead> all = ahead_of(request);
    if (all.empty()) return ", nothing ahead";
    std::string text = ", behind ";
    for (std::size_t i = 0; i < std::min(all.size(), kMostAhead); i++) {
      if (i > 0) text += ", ";
      text += fmt::format("{} {} of {}", all[i].count, plural(all[i].count, all[i].what),
                          task(all[i].task));
    }
    if (all.size() > kMostAhead) text += ", ...";
    return text;
  }
  std::vector<std::string> of_cpu(const Node& node) const {
    const std::vector<SlowCall::Ran> all = ran(node);
    const auto idle = [](const SlowCall::Ran& ran) { return ran.task == kNoTask; };
    if (std::ranges::all_of(all, idle)) return {};
    // The CPU with the longest of them first, all of one CPU together.
    std::vector<std::uint32_t> cpus;
    for (const SlowCall::Ran& one : all) {
      if (std::ranges::find(cpus, one.cpu) == cpus.end()) cpus.push_back(one.cpu);
    }
    std::string text;
    for (const std::uint32_t cpu : cpus) {
      text += (text.empty() ? "CPU " : "; CPU ") + std::to_string(cpu) + ':';
      std::size_t listed = 0;
      for (const SlowCall::Ran& one : all) {
        if (one.cpu != cpu || ++listed > kMostRan) continue;
        text += (listed > 1 ? ", " : " ") + (idle(one) ? "idle" : task(one.task)) + ' ' +
                ticks(one.ticks);
      }
      if (listed > kMostRan) text += ", ...";
    }
    return {text};
  }
  // Returns the wait whose details stand for all of the part: the longest for a lock, or else the
  // longest.
  const PathWait& told_of(const Node& node) const {
    const std::vector<PathWait>& waits = call_.path().waits;
    const PathWait* longest = nullptr;
    for (const std::size_t at : node.steps) {
      const auto lock = call_.lock(waits[at]);
      if (!lock || (lock->futex && !lock->mutex)) continue;
      const bool longer =
          longest == nullptr || waits[at].to - waits[at].from > longest->to - longest->from;
      if (longer) longest = &waits[at];
    }
    return longest != nullptr ? *longest : waits[node.longest_at];
  }
  std::vector<std::string> of_wait(const Node& node) const {
    std::vector<std::string> lines;
    const PathWait& wait = told_of(node);
    if (const auto lock = call_.lock(wait)) lines.push_back(lock_text(*lock, wait));
    if (const DiskRequest* const request = call_.request(wait.task, wait.to)) {
      for (std::string& line : of_request(*request, "")) lines.push_back(std::move(line));
    }
    if (node.count > 1 && !lines.empty())
      lines[0] = fmt::format("longest of {}: ", node.count) + lines[0];
    return lines;
  }
  std::string lock_text(const LockWait& lock, const PathWait& wait) const {
    const char* const kind = lock.mutex ? "mutex" : lock.futex ? "futex" : "lock";
    std::string text = fmt::format("{} {:#x}", kind, lock.address);
    if (lock.futex && !lock.mutex) return text;
    text += " was held by " + task(wait.waker);
    if (lock.since) {
      text += " since " + moment(*lock.since) + " (" +
              ticks(wait.to - std::min(wait.to, *lock.since)) + ')';
    } else {
      text += ", since when is not recorded";
    }
    if (!lock.futex && lock.call != kNoType)
      text += ", in " + std::string(analysis_.types()[lock.call].name);
    return text;
  }

  const SlowCall& call_;
  const Analysis& analysis_;
  const TimeFormat& time_;
};

// What to record to know more about this call.
std::vector<std::string> missing(const SlowCall& call) {
  const SlowCall::Sources& has = call.sources();
  const FoundSpan& span = call.span();
  std::vector<std::string> lines;
  if (span.interrupt || span.async) return lines;
  if (!has.switches) return {"what it waited for: fkt_record -k system,process"};
  if (call.too_much()) lines.push_back("too much happened meanwhile for a path");
  bool device = false, lock = false, futex = false;
  for (const PathStep& step : call.path().steps) {
    const bool slept = step.doing == Doing::asleep || step.doing == Doing::disk;
    device |= slept && step.by_interrupt && call.request(step.task, step.to) == nullptr;
  }
  for (const PathWait& wait : call.path().waits) {
    if (call.lock(wait)) continue;
    // Who waits for a lock of the kernel sleeps uninterruptibly.
    lock |= wait.uninterruptible;
    futex |= call_name(call.analysis(), wait.call) == "sys_futex";
  }
  if (device && !has.blocks) lines.push_back("which request of a disk: fkt_record -k block");
  if (lock && !has.locks) lines.push_back("which lock of the kernel: fkt_record -k lock");
  if (futex) lines.push_back("which futex: fkt_record --args");
  if (!call.file() && !call.socket() && !has.files) lines.push_back("which file: fkt_record -k fs");
  return lines;
}

class WhyText {
 public:
  WhyText(const WhyReport& report, TextWriter& out)
      : call_(report.call),
        lines_(report.lines),
        texts_(report.call, report.time),
        parts_(report.call),
        out_(out) {
    for (const Node& node : parts_.all()) details_.push_back(texts_.details(node));
  }

  void write() {
    head();
    if (const DiskRequest* const own = call_.own_request()) {
      for (const std::string& text : texts_.of_request(*own, "")) line("  " + text);
    }
    const std::vector<std::string> behind = last_lines();
    choose(lines_ - std::min(lines_, kHeadLines + behind.size()));
    write_inside(kNoNode);
    write_rest();
    for (const std::string& text : behind) line(text);
  }

 private:
  void line(std::string_view text) {
    TextWriter safe;
    safe.escaped(text);
    out_.put(out_.columns() == 0 ? safe.view() : first_columns(safe.view(), out_.columns()));
    out_.put('\n');
  }
  void head() {
    const FoundSpan& span = call_.span();
    line(fmt::format("{} ({}): {} took {}", span.task, span.pid, texts_.title(),
                     texts_.ticks(span.duration)));
    line(fmt::format("    Time  Share  From {} to {}", texts_.moment(span.begin),
                     texts_.moment(span.begin + span.duration)));
  }
  // Chooses the parts that are shown: of those that there is room for always the one that explains
  // most time with each line that it needs, itself and what it is in the place of.
  void choose(std::size_t room) {
    const std::vector<Node>& all = parts_.all();
    shown_.assign(all.size(), false);
    room -= std::min<std::size_t>(room, 1);  // for what is not shown
    for (;;) {
      std::size_t best = kNoNode, best_lines = 0;
      for (std::size_t i = 0; i < all.size(); i++) {
        if (shown_[i] || all[i].is_wait || share(all[i].ticks) < kLeastShare) continue;
        const std::size_t needs = lines_for(i);
        if (needs > room) continue;
        if (best == kNoNode || all[i].ticks * best_lines > all[best].ticks * needs) {
          best = i;
          best_lines = needs;
        }
      }
      if (best == kNoNode) return;
      room -= best_lines;
      for (std::size_t i = best; i != kNoNode; i = all[i].parent) shown_[i] = true;
    }
  }
  std::size_t lines_for(std::size_t node) const {
    std::size_t lines = 0;
    for (std::size_t i = node; i != kNoNode && !shown_[i]; i = parts_.all()[i].parent) {
      lines += 1 + details_[i].size();
    }
    return lines;
  }
  void write_inside(std::size_t node) {
    for (const std::size_t i : parts_.inside(node)) {
      if (!shown_[i]) continue;
      const Node& part = parts_.all()[i];
      const std::string indent(2 * part.depth, ' ');
      row(part.ticks, indent + texts_.what(part));
      for (const std::string& text : details_[i])
        line(std::string(kDetailIndent, ' ') + indent + text);
      write_inside(i);
    }
  }
  // Percent of the call's duration.
  double share(std::uint64_t ticks) const {
    const double all = static_cast<double>(call_.span().duration);
    return all > 0 ? 100. * static_cast<double>(ticks) / all : 0;
  }
  void row(std::uint64_t ticks, const std::string& what) {
    line(fmt::format("{:>8} {:5.1f}%  {}", texts_.ticks(ticks), share(ticks), what));
  }
  // The parts without parts of their own add up to the call's time.
  void write_rest() {
    std::uint64_t ticks = 0, count = 0;
    for (std::size_t i = 0; i < parts_.all().size(); i++) {
      if (shown_[i] || parts_.all()[i].is_wait) continue;
      ticks += parts_.all()[i].ticks;
      count++;
    }
    if (count > 0) row(ticks, counted(count, "other part") + " (--json has all)");
  }
  std::vector<std::string> last_lines() const {
    std::vector<std::string> lines;
    std::string text;
    const std::vector<Child>& functions = call_.functions();
    for (std::size_t i = 0; i < std::min(functions.size(), kMostFunctions); i++) {
      const Child& one = functions[i];
      text += (i == 0 ? "Inside: " : ", ") + call_.analysis().types()[one.type].name + ' ' +
              texts_.ticks(one.ticks);
      if (one.count > 1) text += fmt::format(" ({})", one.count);
    }
    if (!text.empty()) lines.push_back(std::move(text));
    for (const std::string& more : missing(call_)) lines.push_back("Not recorded: " + more);
    return lines;
  }

  const SlowCall& call_;
  const std::size_t lines_;
  const Texts texts_;
  const CallParts parts_;
  TextWriter& out_;
  std::vector<bool> shown_;                        // by part
  std::vector<std::vector<std::string>> details_;  // by part
};

class WhyJson {
 public:
  WhyJson(const WhyReport& report, TextWriter& out)
      : call_(report.call),
        analysis_(report.call.analysis()),
        time_(report.time),
        texts_(report.call, report.time),
        json_(out) {}

  void write() {
    json_.object([&] {
      const FoundSpan& span = call_.span();
      json_.members("name", span.name, "title", texts_.title());
      cell("from", moment(span.begin));
      cell("to", moment(span.begin + span.duration));
      cell("duration", Ticks{span.duration});
      json_.members("cpu", span.cpu, "pid", span.pid, "task", span.task);
      text("file", texts_.file());
      text("peer", texts_.peer());
      json_.key("request").put([&] { request(call_.own_request()); });
      rows("parts", CallParts(call_).all(), [&](const Node& node) { part(node); });
      rows("path", call_.path().steps, [&](const PathStep& one) { step(one); });
      rows("waits", call_.path().waits, [&](const PathWait& one) { wait(one); });
      rows("functions", call_.functions(), [&](const Child& one) {
        json_.members("name", analysis_.types()[one.type].name, "count", one.count);
        cell("time", Ticks{one.ticks});
      });
      json_.members("missing", missing(call_));
    });
  }

 private:
  Moment moment(std::uint64_t clock) const { return {clock - std::min(clock, analysis_.start())}; }
  void cell(std::string_view key, const Cell& value) {
    json_.key(key);
    write_json(json_, value, time_);
  }
  void text(std::string_view key, const std::string& value) {
    cell(key, value.empty() ? Cell(kUnknown) : Cell(value));
  }
  // Writes an array with an object for each row, whose members `row` writes.
  template <class All, class Row>
  void rows(std::string_view key, const All& all, Row row) {
    json_.key(key).array([&] {
      for (const auto& one : all) json_.object([&] { row(one); });
    });
  }
  void who(std::string_view key, std::string_view pid_key, TaskIndex task) {
    if (task == kNoTask) return json_.members(key, nullptr, pid_key, nullptr);
    json_.members(key, analysis_.tasks().name(task), pid_key, analysis_.tasks()[task].tid);
  }
  void part(const Node& node) {
    json_.members("depth", node.depth, "count", node.count);
    cell("time", Ticks{node.ticks});
    who("task", "pid", node.task);
    json_.members("what", texts_.what(node), "details", texts_.details(node));
  }
  void step(const PathStep& one) {
    cell("from", moment(one.from));
    cell("time", Ticks{one.to - one.from});
    who("task", "pid", one.task);
    json_.members("what", step_text(one, analysis_));
    json_.key("wait").put([&] { place(one.wait); });
    const bool slept = one.doing == Doing::asleep || one.doing == Doing::disk;
    if (slept) json_.key("request").put([&] { request(call_.request(one.task, one.to)); });
    if (one.doing != Doing::ready) return;
    rows("ran", call_.ran_meanwhile(one), [&](const SlowCall::Ran& ran) {
      json_.members("cpu", ran.cpu);
      who("task", "pid", ran.task);
      cell("time", Ticks{ran.ticks});
    });
  }
  void wait(const PathWait& one) {
    cell("from", moment(one.from));
    cell("time", Ticks{one.to - one.from});
    who("task", "pid", one.task);
    json_.members("call", call_name(analysis_, one.call));
    who("waker", "waker_pid", one.waker);
    json_.key("wait").put([&] { place(one.wait); });
    json_.key("request").put([&] { request(call_.request(one.task, one.to)); });
    const auto lock = call_.lock(one);
    if (!lock) return json_.members("lock", nullptr);
    json_.key("lock").object([&] {
      json_.members("address", hex(lock->address), "futex", lock->futex, "mutex", lock->mutex);
      text("call", lock->call == kNoType ? "" : analysis_.types()[lock->call].name);
      cell("since", lock->since ? Cell(moment(*lock->since)) : Cell(kUnknown));
    });
  }
  void place(std::uint32_t wait) {
    if (wait == kNoWait) return json_.put(nullptr);
    json_.put(wait);
  }
  void request(const DiskRequest* one) {
    if (one == nullptr) return json_.put(nullptr);
    json_.object([&] {
      json_.members("what", IoUse::name(IoUse::operation(one->flags), false), "device",
                    device_name(analysis_.info(), one->device), "sector", one->sector, "bytes",
                    one->bytes, "failed", one->failed);
      text("file", std::string(call_.file_names().find(one->file_device, one->file)));
      who("task", "pid", one->task);
      cell("queued", one->queued == 0 ? Cell(kUnknown) : Cell(Ticks{one->issued - one->queued}));
      cell("issued", moment(one->issued));
      cell("served",
           one->completed == 0 ? Cell(kUnknown) : Cell(Ticks{one->completed - one->issued}));
      rows("ahead", texts_.ahead_of(*one), [&](const Texts::Ahead& ahead) {
        json_.members("what", ahead.what, "count", ahead.count, "bytes", ahead.bytes);
        who("task", "pid", ahead.task);
      });
    });
  }

  const SlowCall& call_;
  const Analysis& analysis_;
  const TimeFormat& time_;
  const Texts texts_;
  JsonWriter json_;
};

}  // namespace

void WhyReport::json(TextWriter& out) const {
  WhyJson(*this, out).write();
  out.put('\n');
}

void WhyReport::text(TextWriter& out) const {
  WhyText(*this, out).write();
}

}  // namespace fkt
