// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/scan.h"

#include <algorithm>

#include "lib/analyse/burst_order.h"
#include "lib/format/clocks.h"
#include "lib/read/cpu_stream.h"
#include "lib/read/event_merge.h"
#include "lib/scan/digest_pool.h"

namespace fkt {
namespace {

constexpr std::uint64_t kProgressEvents = 1 << 18;
constexpr unsigned kMostThreads = 8;  // the thread that merges is one of them

// The stream of one CPU, as BurstOrder takes it: events, and bursts (lib/analyse/burst.h) where its
// page has a digest.
class BurstStream {
 public:
  // checkpoint: the state at which the scan begins; nullptr: it begins at the recording's start.
  BurstStream(RecordingData& data, DigestPool& pool, std::uint32_t cpu,
              const std::vector<std::uint32_t>& pages, const Checkpoint* checkpoint,
              std::uint64_t to)
      : stream_(data, pages, checkpoint != nullptr ? checkpoint->from : 0, to,
                data.info.checkpoint ? checkpoint : nullptr),
        pool_(pool),
        pages_(pages),
        cpu_(cpu) {
    if (checkpoint == nullptr || data.info.checkpoint) return;
    if (const Checkpoint::Cpu* known = checkpoint->find(cpu)) stream_.go_on_from(known->clock);
  }

  bool start() { return stream_.advance(); }

  // The next burst; nullptr when event() is next.
  const Burst* burst() const { return burst_; }
  const Event& event() const { return stream_.event(); }
  // Returns whether the digest of the event's page counts its events; `ask` is called once per
  // page.
  template <class Ask>
  bool counted(Ask ask) {
    if (counted_page_ != stream_.current_page().index) [[unlikely]] {
      counted_page_ = stream_.current_page().index;
      counted_ = ask(cpu_, stream_.current_page());
    }
    return counted_;
  }
  std::uint32_t cpu() const { return cpu_; }
  bool in_burst() const { return burst_ != nullptr; }
  std::uint32_t pid() const { return burst_->pid; }
  std::uint64_t from() const { return burst_->from; }
  std::uint64_t due() const { return burst_ != nullptr ? burst_->to : event().clock; }
  std::span<const ChildRecord> loose() const {
    return digest_->loose.part(0, digest_->loose.size());
  }
  std::span<const SpanRecord> spans() const {
    return digest_->spans.part(burst_->first_span, burst_->end_span);
  }
  std::span<const NestedRecord> nested() const {
    return digest_->nested.part(burst_->first_nested, burst_->end_nested);
  }

  // Moves on after burst() was taken as a whole or event() was applied. Returns false at the end.
  bool next() {
    if (burst_ != nullptr) {
      burst_->taken = true;
      behind_ = burst_++;
      next_burst_++;
      if (next_burst_ < bursts() && burst_->begin_word == behind_->end_word) [[likely]]
        return true;
      catch_up();
    }
    if ((!page_ || *page_ != stream_.current_page().index) && !stream_.in_gap()) [[unlikely]]
      enter_page();
    if (at_burst()) {
      burst_ = &digest_->bursts[next_burst_];
      return true;
    }
    return stream_.advance() || leave_page();
  }
  // Moves on to the first event of burst(), which is to be applied event by event.
  void take_apart() {
    catch_up();
    next_burst_++;
    stream_.advance();  // its result is not needed: a burst has events
  }

 private:
  std::size_t bursts() const { return digest_ != nullptr ? digest_->bursts.size() : 0; }
  bool at_burst() const {
    return next_burst_ < bursts() && stream_.position() == digest_->bursts[next_burst_].begin_word;
  }
  // Moves the stream to the end of the last burst taken. It is not moved after each burst, because
  // events are read only between bursts that do not follow each other.
  void catch_up() {
    if (behind_ != nullptr) {
      const Burst& last = *behind_;
      stream_.skip(last.end_word, last.to, last.leave != 0 ? last.next : last.pid);
    }
    behind_ = burst_ = nullptr;
  }
  // Called after the page's first event, when the pool has been asked for all pages that begin
  // before it, as the merge goes by time. Releases the CPU's earlier pages.
  void enter_page() {
    const std::size_t entered = stream_.current_page().index;
    for (std::size_t page = page_.value_or(0); page < entered; page++) pool_.release(pages_[page]);
    page_ = entered;
    next_burst_ = 0;
    digest_ = pool_.get(pages_[entered]);
  }
  bool leave_page() {
    if (page_) pool_.release(pages_[*page_]);
    digest_ = nullptr;
    return false;
  }

  CpuStream stream_;
  DigestPool& pool_;
  const std::vector<std::uint32_t>& pages_;
  std::uint32_t cpu_;
  std::optional<std::size_t> page_;  // the page of digest_
  PageDigest* digest_ = nullptr;
  std::size_t next_burst_ = 0;     // in digest_
  const Burst* behind_ = nullptr;  // last burst taken, if the stream is still before it
  std::optional<std::size_t> counted_page_;
  bool counted_ = false;  // result of counted() for counted_page_
  Burst* burst_ = nullptr;
};

// Returns the end of the scan: the first tick that is not read.
std::uint64_t end_of_scan(const Analysis& analysis, const ScanOptions& options) {
  const std::uint64_t to = analysis.selection().to.value_or(kForever);
  return options.stops.empty() ? to : std::min(to, options.stops.back());
}

// Reports the number of events read after each kProgressEvents or so.
class Progress {
 public:
  explicit Progress(ScanProgress progress) : progress_(std::move(progress)) {}
  void count(std::uint64_t events) {
    const std::uint64_t before = done_;
    done_ += events;
    if ((before ^ done_) >= kProgressEvents && progress_) {
      stopped_ = !progress_(done_);
    }
  }
  bool stopped() const { return stopped_; }

 private:
  ScanProgress progress_;
  std::uint64_t done_ = 0;
  bool stopped_ = false;
};

}  // namespace

// Applies every event by itself: for selections that do not take bursts.
class Scanner::Events {
 public:
  Events(const Recording& recording, Analysis& analysis, const ScanOptions& options)
      : analysis_(analysis),
        events_(recording.events({.from = {}, .to = end_of_scan(analysis, options), .cpu = {}})),
        next_(events_.begin()),
        activity_(options.activity),
        progress_(options.progress) {}

  void run(std::uint64_t until) {
    for (; next_ != events_.end() && next_->clock < until && !progress_.stopped(); ++next_) {
      const Analysis::Found& place = analysis_.add(*next_);
      if (activity_ != nullptr) activity_->add(*next_, place);
      progress_.count(1);
    }
  }

 private:
  Analysis& analysis_;
  EventRange events_;
  EventRange::iterator next_;
  TaskActivity* activity_;
  Progress progress_;
};

// Merges the CPUs by time (lib/analyse/burst_order.h). A burst that is not taken apart is applied
// as a whole, if it fits the open spans.
class Scanner::Merge {
 public:
  Merge(RecordingData& data, Analysis& analysis, ScanOptions options)
      : data_(data),
        analysis_(analysis),
        options_(std::move(options)),
        to_(end_of_slice()),
        progress_(options_.progress),
        types_(analysis.types().kinds()),
        pool_(data, types_, wanted(), analysis.profile().keeps_histograms(),
              options_.activity != nullptr, options_.threads),
        order_(options_.activity != nullptr) {
    data_.integrity.events = 0;
    open_streams();
  }

  void run(std::uint64_t until) {
    while (!order_.empty() && !progress_.stopped() && order_.due() < until) step();
  }
  void finish() { pool_.add_to(analysis_.profile()); }

 private:
  std::uint64_t end_of_slice() const {
    const std::uint64_t to = end_of_scan(analysis_, options_);
    return checkpoint() != nullptr ? std::min(to, checkpoint()->to) : to;
  }
  // The checkpoint at which a slice begins, or at which the analysis was told to start.
  const Checkpoint* checkpoint() const {
    const std::optional<Checkpoint>& checkpoint = analysis_.info().checkpoint;
    return checkpoint ? &*checkpoint : nullptr;
  }
  std::uint64_t begin_of_scan() const { return checkpoint() != nullptr ? checkpoint()->from : 0; }

  // DigestPool::Wanted: a page that reaches across the scan's begin or end, a stop or an edge of
  // the window is not digested but read event by event.
  std::optional<bool> digestible(std::uint32_t cpu, std::uint64_t first, std::uint64_t last) const {
    if (first < begin_of_scan() || last >= to_) return std::nullopt;
    for (const std::uint64_t stop : options_.stops) {
      if (first < stop && last >= stop) return std::nullopt;
    }
    const std::optional<bool> counts = analysis_.window().whole(cpu, first, last);
    return counts ? std::optional(*counts && options_.statistics) : counts;
  }
  DigestPool::Wanted wanted() const {
    return [this](std::uint32_t cpu, std::uint64_t first, std::uint64_t last) {
      return digestible(cpu, first, last);
    };
  }

  void open_streams() {
    streams_.reserve(data_.by_cpu.size());  // order_ points into it: no reallocation from here on
    types_.update(analysis_.types());
    for (const auto& [cpu, pages] : data_.by_cpu) {
      BurstStream& stream = streams_.emplace_back(data_, pool_, cpu, pages, checkpoint(), to_);
      if (stream.start()) order_.add(stream);
    }
    order_.begin();
  }

  void step() {
    BurstStream& stream = order_.front();
    if (const Burst* burst = stream.burst()) {
      if (burst->leave != 0) order_.disturb(burst->next);
      const bool follows = options_.bursts != nullptr && options_.bursts->follows(task_of(stream));
      if (follows && !is_known_by_sums(stream)) order_.take_apart(stream);
      if (order_.reorder()) return;
      order_.disown();
      if (!analysis_.apply({*burst, stream.cpu(), stream.loose(), options_.bursts},
                           options_.activity != nullptr)) {
        stream.take_apart();
        return order_.go_on(true);
      }
      count(burst->events);
      if (options_.activity != nullptr) tell(*burst, stream.cpu());
      if (follows) charge_calls(stream);
      return order_.go_on(stream.next());
    }
    const Event& event = stream.event();
    order_.disturb(event);
    if (order_.reorder()) return;
    const bool counted =
        stream.counted([this](std::uint32_t cpu, const CpuStream::CurrentPage& page) {
          return digestible(cpu, page.first_clock, page.end_clock).value_or(false);
        });
    const TaskIndex running = analysis_.follow(event, !counted);
    if (options_.activity != nullptr) options_.activity->add(event, running);
    types_.update(analysis_.types());
    count(event.counts());
    order_.go_on(stream.next());
  }

  TaskIndex task_of(const BurstStream& stream) const {
    const Tasks& tasks = analysis_.tasks();
    const std::uint32_t pid = stream.burst()->pid;
    return pid == 0 ? tasks.find_idle(stream.cpu()) : tasks.find(pid);
  }

  // Returns whether the observer needs only the sums of the burst's calls: it wants no end of a
  // call, and the burst has no functions, which may have been called in an interrupt.
  bool is_known_by_sums(const BurstStream& stream) const {
    const auto by_sums = [this](const auto& span) {
      const SpanKind kind = analysis_.types()[span.type].kind;
      if (is_syscall(kind)) return !options_.bursts->wants(span.ticks);
      return on_cpu(kind);
    };
    return std::ranges::all_of(stream.spans(), by_sums) &&
           std::ranges::all_of(stream.nested(), by_sums);
  }

  // Charges the self time of the burst's whole calls.
  void charge_calls(const BurstStream& stream) {
    const TaskIndex task = task_of(stream);
    const auto charge = [&](TypeIndex type, std::uint64_t self) {
      if (self == 0 || !is_syscall(analysis_.types()[type].kind)) return;
      charged_.type = type;
      options_.bursts->charge(&charged_, task, CpuState::system, self);
    };
    for (const SpanRecord& span : stream.spans()) charge(span.type, span.ticks);
    for (const NestedRecord& span : stream.nested()) charge(span.type, span.self);
  }

  // Passes a burst that was applied in one step to the TaskActivity, and then the switch at its
  // end, which is a separate event for it.
  void tell(const Burst& burst, std::uint32_t cpu) const {
    const Tasks& tasks = analysis_.tasks();
    const TaskIndex task = burst.pid == 0 ? tasks.find_idle(cpu) : tasks.find(burst.pid);
    const bool in_interrupt = analysis_.spans().innermost_interrupt(cpu) != kNoType;
    const bool calls =
        burst.exits || burst.enters || burst.has_calls || (burst.has_called && !in_interrupt);
    options_.activity->add_burst(cpu, task, burst.from, calls);
    if (burst.leave != 0) options_.activity->add(burst.last_event(cpu), task);
  }

  void count(std::uint64_t events) {
    data_.integrity.events += events;
    progress_.count(events);
  }

  RecordingData& data_;
  Analysis& analysis_;
  const ScanOptions options_;
  const std::uint64_t to_;
  Progress progress_;
  SharedTypeTable types_;
  DigestPool pool_;
  std::vector<BurstStream> streams_;
  BurstOrder<BurstStream> order_;
  OpenSpan charged_;  // for charge_calls()
};

unsigned ScanOptions::default_threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
}

Scanner::Scanner(const Recording& recording, Analysis& analysis, ScanOptions options) {
  const bool ordinary =
      options.activity == nullptr || has_ordinary_switches(recording.info().catalogue);
  if (analysis.takes_many() && ordinary) {
    merge_ = std::make_unique<Merge>(recording.data(), analysis, std::move(options));
  } else {
    events_ = std::make_unique<Events>(recording, analysis, std::move(options));
  }
}
Scanner::~Scanner() = default;

void Scanner::run(std::uint64_t clock) {
  merge_ ? merge_->run(clock) : events_->run(clock);
}
void Scanner::finish() {
  if (merge_) merge_->finish();
}

void scan(const Recording& recording, Analysis& analysis, ScanOptions options) {
  Scanner scanner(recording, analysis, std::move(options));
  scanner.run(kForever);
  scanner.finish();
}

}  // namespace fkt
