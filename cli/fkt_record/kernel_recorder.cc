// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/kernel_recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_record/instruments/device_names.h"
#include "cli/fkt_record/instruments/mapped_code.h"
#include "cli/fkt_record/instruments/read_hits.h"
#include "cli/fkt_record/output/read_back_index.h"
#include "cli/fkt_record/output/tail_reserve.h"
#include "cli/fkt_record/sections/symbol_reader.h"
#include "cli/fkt_record/start/start_checks.h"
#include "lib/base/parse.h"
#include "lib/base/random.h"
#include "lib/base/read_file.h"

namespace fkt::record {
namespace {

// Upper bound of -s in bytes: file offsets are signed, and head and tail need space too.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

std::uint32_t start_flags(const Request& request) {
  std::uint32_t flags = 0;
  if (request.args) flags |= FKT_START_ARGS;
  if (!request.pairs) flags |= FKT_START_NO_PAIRS;
  if (request.when_full == Request::WhenFull::stop) flags |= FKT_START_STOP_WHEN_FULL;
  if (request.when_full == Request::WhenFull::overwrite) flags |= FKT_START_OVERWRITE;
  return flags;
}

Status check_size(const std::optional<std::uint64_t>& size, std::uint32_t page_bytes) {
  if (!size || *size >= page_bytes) return Done{};
  return cli::usage("-s: " + cli::bytes_text(*size) +
                    " leave no room for any event: with this -p " + "a page has " +
                    cli::bytes_text(page_bytes));
}

// Returns the catalogue's lines about devices.
std::string lines_of_devices() {
  const Result<std::string> partitions = read_file("/proc/partitions");
  const Result<std::string> mounts = read_file("/proc/self/mountinfo");
  return device_lines(partitions ? *partitions : "", mounts ? *mounts : "");
}

}  // namespace

Result<std::unique_ptr<KernelRecorder>> KernelRecorder::prepare(const Request& request,
                                                                const std::optional<User>& owner,
                                                                int give_up) {
  auto device = FKT_TRY(Device::open());
  Status ready = check_process(request.filter, request.filter_pid);
  const Result<fkt_clocks> clocks = device.clocks(request.clock);
  if (ready && !clocks) ready = clocks.error();
  if (ready) ready = check_clock(*clocks, request.clock);
  // This is also the first call that fails if another process is recording; the file is not touched
  // yet.
  if (ready) ready = device.set_pow_pages(request.pow_pages);
  if (!ready) return ready.error();
  const auto status = FKT_TRY(device.status());
  FKT_TRY(check_access(request.filter, status));
  const auto tasks = FKT_TRY(TaskList::of(device));
  FKT_TRY(check_size(request.size, status.page_bytes));
  const auto id = FKT_TRY(random_id());
  OutputPlan plan = request.output;
  plan.owner = owner;
  auto output = FKT_TRY(request.rotate == 0 ? Output::open(plan) : Rotation::open_first(plan));

  std::unique_ptr<KernelRecorder> recording(
      new KernelRecorder(request, {id, status.page_bytes, status.cpus, clocks->khz},
                         std::move(device), tasks, std::move(plan), std::move(output)));
  FKT_TRY(recording->connect(give_up));
  const Status prepared = recording->prepare_user_events();
  if (!prepared) {
    recording->discard();
    return prepared.error();
  }
  return recording;
}

KernelRecorder::KernelRecorder(const Request& request, const Facts& facts, Device device,
                               const TaskList& tasks, OutputPlan plan, Output output)
    : request_(request),
      facts_(facts),
      device_(std::move(device)),
      task_list_(tasks),
      output_plan_(std::move(plan)),
      output_(std::move(output)),
      engine_(request.engine),
      instruments_(device_, defined_,
                   {request.instruments, request.layers.files, request.clock, ticks_per_second(),
                    request.when_full == Request::WhenFull::overwrite, request.keep_children,
                    request.with_self}) {
  // With lent pages snapshots can be written while the recording continues.
  if (is_flight() && !engine_ && has_room()) engine_ = FKT_ENGINE_URING;
}

Status KernelRecorder::connect(int give_up) {
  if (!output_.is_remote()) return Done{};
  const auto address = FKT_TRY(request_.address());
  auto remote =
      FKT_TRY(RemoteSink::connect({output_plan_.file, address, request_.token_file, request_.wait,
                                   facts_.recording, facts_.page_bytes, request_.size.value_or(0)},
                                  give_up));
  remote_ = std::move(remote);
  return Done{};
}

Status KernelRecorder::prepare_user_events() {
  if ((request_.mask & 1ULL << FKT_L_USER) == 0) return Done{};
  if (!output_.is_file()) {
    return cli::usage("-k user: to a file only, not to " + output_.name());
  }
  // The kernel's events and those of programs are told to be one thread's by its number.
  if (!task_list_.remark().empty()) {
    return cli::usage("-k user: not in a pid namespace of its own: --user-only records there");
  }
  const Result<std::uint64_t> limit = limit_bytes();
  if (!limit) return limit.error();
  const uid_t user = output_plan_.owner ? output_plan_.owner->uid : ::getuid();
  // Without -s the limit is the space that there is, which is needed twice.
  user_events_ = FKT_TRY(UserEvents::prepare(
      {{facts_.recording, facts_.page_bytes, Collector::ring_words(request_.pow_pages), user,
        request_.function_rules},
       output_plan_,
       request_.clock,
       request_.size ? *limit : *limit / 2}));
  return Done{};
}

std::uint64_t KernelRecorder::ring_bytes() const {
  const auto cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  return (std::uint64_t{4096} << request_.pow_pages) * cpus;
}

// Limit of the pages in bytes; 0: none is known in advance, the output ends when a write fails.
Result<std::uint64_t> KernelRecorder::limit_bytes() const {
  if (request_.size) return std::min(*request_.size, kMostBytes);
  if (!has_room()) return std::uint64_t{0};
  const auto room =
      FKT_TRY(output_.room(tail_reserve(facts_.cpus), kTailBytesPerPage, facts_.page_bytes));
  // Checked at the start, because after a crash it would be too late to find out that the disk is
  // full.
  if (is_flight() && room < ring_bytes()) {
    return Error{ErrorCode::io, output_.name() + ": no space for the " +
                                    cli::bytes_text(ring_bytes()) + " that the recorder keeps"};
  }
  return room;
}

PageSink* KernelRecorder::sink() const {
  if (remote_) return remote_.get();
  return files_ ? &files_->sink() : nullptr;
}

std::string KernelRecorder::without_snapshots() const {
  if (!is_flight()) return "this is no flight recorder (see --flight)";
  if (!has_room()) return output_.name() + " is no file that snapshots can stand beside";
  if (engine_ && *engine_ != FKT_ENGINE_URING) {
    return "engine " + std::string(engine_name(*engine_)) + " lets no page go before the end";
  }
  return "nothing is being recorded";
}

std::uint64_t KernelRecorder::mask() const {
  return request_.mask | (instruments_.setup() ? instruments_.setup()->layers() : 0);
}

// Finds the places of the instruments and makes the sections before the pages.
Result<Sections> KernelRecorder::make_sections(const std::optional<User>& user, pid_t workload) {
  SymbolReader reader;
  if (!request_.instruments.empty() || !request_.layers.files.empty()) {
    FKT_TRY(instruments_.prepare(reader));
    for (const std::string& remark : instruments_.setup()->remarks()) cli::warn(remark);
  }
  const auto symbols = FKT_TRY(reader.section({request_.system_map, request_.verbose}));
  const RecordingFacts asked{request_.command, request_.words,    mask(),
                             request_.args,    request_.filter,   request_.filter_pid,
                             request_.clock,   request_.pow_pages};
  if (user_events_) {
    FKT_TRY(user_events_->write_head(asked, task_list_, user, workload));
  }
  const auto status = FKT_TRY(device_.status());
  const bool has_stacks = records_stacks(request_.instruments, request_.layers.files);
  if (has_stacks && !can_record_mapped_code()) {
    cli::warn(
        "without the module fkt_calls, functions of programs that begin from now on have no "
        "names in stacks (modprobe fkt_calls)");
  }
  // With --only, what COMMAND's processes map is recorded.
  const bool has_maps = has_stacks && request_.filter != FKT_FILTER_JOIN;
  return sections_before({asked, status, [this] { return device_.clocks(request_.clock); },
                          task_list_, symbols, user, workload, output_.is_stream(),
                          instruments_.head_lines() + lines_of_devices(), has_maps});
}

Result<LentFilesPlan> KernelRecorder::lent_files_plan() const {
  LentFilesPlan plan{output_plan_, request_.rotate, request_.keep, request_.clock, {}, defined_};
  plan.sink.part.recording = facts_.recording;
  plan.sink.part.page_bytes = facts_.page_bytes;
  plan.sink.part.reserve = tail_reserve(facts_.cpus);
  plan.sink.part.reserve_per_page = kTailBytesPerPage;
  plan.sink.level = request_.level;
  plan.sink.ring_bytes = ring_bytes();
  if (request_.rotate != 0) return plan;
  plan.sink.part.limit = FKT_TRY(limit_bytes());
  return plan;
}

Status KernelRecorder::write_head(const std::optional<User>& user, pid_t workload) {
  const auto sections = FKT_TRY(make_sections(user, workload));
  if (const std::string remark = task_list_.remark(); !remark.empty()) cli::warn(remark);
  start_clocks_at_ = sizeof(fkt_file_header) + sections.next_offset();
  head_ = file_head(facts_.recording, facts_.page_bytes, sections,
                    request_.level ? FKT_FILE_VERSION_GROUPS : FKT_FILE_VERSION_PAGES,
                    pages_behind(sections.bytes().size() + kClocksBytes));
  if (request_.verbose) {
    cli::warn(output_.name() + ": " + cli::bytes_text(head_.size()) + " before the pages");
  }
  if (remote_) return remote_->write_head(head_.substr(0, start_clocks_at_));
  if (engine_ != FKT_ENGINE_URING || output_.is_stream()) {
    return output_.write_head(head_, start_clocks_at_);
  }
  const auto plan = FKT_TRY(lent_files_plan());
  files_ = FKT_TRY(LentFiles::make(device_, task_list_, output_, head_, plan));
  return Done{};
}

Status KernelRecorder::write_start_clocks() {
  const auto clocks = FKT_TRY(clocks_of_start(device_, request_.clock));
  head_.replace(start_clocks_at_, clocks.bytes().size(), clocks.bytes());
  if (files_) files_->set_head(head_);
  if (remote_) return remote_->write_head(head_.substr(start_clocks_at_));
  return output_.finish_head(head_, start_clocks_at_);
}

Result<StartArguments> KernelRecorder::start_arguments(const DrainPlan& plan) const {
  StartArguments arguments({facts_.recording, mask(), start_flags(request_), request_.clock,
                            request_.filter, request_.filter_pid});
  if (request_.snapshot_when) {
    if (!can_take_snapshots()) {
      return Error{ErrorCode::io, "--snapshot-when: " + without_snapshots()};
    }
    FKT_TRY(arguments.set_trigger(*request_.snapshot_when, ticks_per_second()));
  }
  if (const InstrumentSetup* setup = instruments_.setup(); setup && !setup->parts().empty()) {
    if (setup->has(Action::Kind::snapshot) && !can_take_snapshots()) {
      return Error{ErrorCode::usage, "-i: do snapshot: " + without_snapshots()};
    }
    arguments.set_instruments(*setup);
  }
  if (plan.engine == FKT_ENGINE_URING) {
    // Not with -z, because the module cannot write groups.
    arguments.lend(is_flight() && has_room() && !request_.level ? &output_ : nullptr);
    return arguments;  // the sink checks the limit
  }
  const auto limit = FKT_TRY(limit_bytes());
  arguments.set_drain(plan, output_, limit, facts_.cpus);
  return arguments;
}

// Says which place of the instruments the error is about, if it is about one.
Error KernelRecorder::name_place(Error error) const {
  const std::uint64_t address = device_.refused_place();
  if (address != 0) error.message = instruments_.name_of(address) + ": " + error.message;
  return error;
}

Status KernelRecorder::start() {
  auto plan = FKT_TRY(choose_drain(output_, engine_));
  if (engine_ != request_.engine) plan.why = "for snapshots of what the flight recorder keeps";
  if (plan.engine == FKT_ENGINE_SENDFILE) {
    ::fcntl(device_.fd(), F_SETFL, O_RDWR | O_NONBLOCK);
    FKT_TRY(output_.seek_to_pages());
    stream_.emplace(device_.fd(), output_.fd(), output_.name());
  }
  const auto arguments = FKT_TRY(start_arguments(plan));
  if (request_.verbose) cli::warn("engine " + how(plan));
  started_ = std::chrono::steady_clock::now();
  const Status started = device_.start(arguments.get());
  if (!started) return name_place(started.error());
  running_ = true;
  if (request_.verbose) tell_splices();
  FKT_TRY(write_start_clocks());
  if (user_events_) {
    const Result<fkt_status> status = device_.status();
    FKT_TRY(status ? user_events_->start(status->start_clock) : status.error());
  }
  if (files_) files_->start();
  if (can_take_snapshots()) {
    start_snapshots();
  } else if (sink()) {
    FKT_TRY(start_drain());
  }
  return start_syncer();
}

// Says by which engine instructions are counted or recorded.
void KernelRecorder::tell_splices() const {
  const InstrumentSetup* const setup = instruments_.setup();
  const std::size_t all = setup ? setup->instructions().names().size() : 0;
  if (all == 0) return;
  // Without the module there is no such file.
  const auto text = read_file("/sys/module/fkt_splices/parameters/armed");
  std::size_t spliced = 0;
  if (text && !parse_number(std::string_view(*text).substr(0, text->find('\n')), spliced)) return;
  cli::warn("instructions: " + cli::with_commas(spliced) + " spliced, " +
            cli::with_commas(all - std::min(spliced, all)) + " by kprobes");
}

std::string KernelRecorder::how(const DrainPlan& plan) const {
  const std::string text = std::string(engine_name(plan.engine)) + ": " + plan.why;
  return files_ ? text + ", by " + files_->how() : text;
}

void KernelRecorder::start_snapshots() {
  snapshots_ = std::make_unique<Snapshots>(
      SnapshotsPlan{output_plan_,
                    [this](std::uint32_t number) { return instruments_.text_at(number); },
                    request_.snapshots, request_.snapshot_after, request_.quiet},
      SnapshotRules{device_, request_.clock, files_->rules(),
                    PartHeads(head_, task_list_, defined_, PartHeads::Kind::snapshot),
                    ticks_per_second()});
}

Status KernelRecorder::start_drain() {
  drain_ = FKT_TRY(LentDrain::start(device_.fd(), facts_.page_bytes, *sink()));
  return Done{};
}

Status KernelRecorder::start_syncer() {
  // A flight recorder writes only at its end, and fdatasync(2) of a stream is up to its reader.
  if (!has_room() || request_.sync.count() == 0 || is_flight()) return Done{};
  const auto written = [this]() -> std::uint64_t {
    const Result<fkt_status> status = device_.status();
    return status ? status->pages_written : 0;
  };
  const auto tell = [this](std::uint64_t pages) {
    if (request_.verbose) cli::warn(cli::with_commas(pages) + " pages are safe on the disk");
  };
  const auto sync = [this] {
    if (files_) return files_->sync();
    return ::fdatasync(output_.fd()) == 0 ? 0 : errno;
  };
  syncer_ = FKT_TRY(DiskSyncer::start(sync, request_.sync, written, tell));
  return Done{};
}

Status KernelRecorder::stop() {
  if (!running_) return Done{};
  running_ = false;
  instruments_.end();
  if (snapshots_) snapshots_->end();
  const Result<fkt_status> before = device_.status();
  if (before) mask_ = before->mask;
  const Status stopped = device_.stop();
  stopped_ = std::chrono::steady_clock::now();
  if (user_events_) user_events_->stop();
  sync_error_ = syncer_ ? syncer_->stop() : 0;
  return stopped;
}

Result<EndSummary> KernelRecorder::finish(std::optional<int> workload_status,
                                          std::vector<Descendant> descendants, int give_up) {
  instruments_.join();
  if (stream_) {
    FKT_TRY(stream_->move_rest(give_up));
  }
  if (snapshots_) {
    snapshots_->join();
    FKT_TRY(start_drain());
  }
  if (drain_) {
    FKT_TRY(drain_->join(give_up));
  }
  const auto status = FKT_TRY(device_.status());
  if (const SinkStatus end = drain_ ? drain_->sink_end() : SinkStatus();
      end && remote_ && !remote_->takes_tail(*end)) {
    return RemoteSink::failure(*end, status);
  }
  EndSummary summary;
  summary.status = status;
  if (drain_) summary.add_drain(*drain_, sink()->cost());
  if (snapshots_) summary.take_off(snapshots_->left());
  if (sync_error_ != 0) summary.add_sync_error(sync_error_, syncer_->safe());
  summary.measure(stopped_ - started_, facts_.khz);
  // The other files come first, because the tasks of the last one are known when the one before it
  // is finished.
  Status written = files_ ? files_->finish_others() : Done{};
  if (const InstrumentSetup* const setup = instruments_.setup()) {
    Result<HitResults> hits = read_hits(device_, *setup);
    if (hits) {
      summary.hits = std::move(*hits);
    } else {
      cli::warn(hits.error().message);
    }
  }
  if (written) written = write_tail(summary, workload_status, std::move(descendants));
  if (!written) return summary.without_tail(written.error(), name());
  if (files_) files_->last_is_complete();
  return summary;
}

std::vector<fkt_index_entry> KernelRecorder::index(const fkt_status& status,
                                                   std::string& fault) const {
  if (const PageSink* to = sink()) return to->index();
  // The reader of a stream scans its pages: nothing can be read back from it here.
  if (output_.is_stream()) return {};
  Result<std::vector<fkt_index_entry>> index =
      index_of_written(device_, {output_.fd(), output_.name(), output_.pages_offset(),
                                 status.pages_written, facts_.page_bytes, facts_.recording});
  if (index) return std::move(*index);
  fault = index.error().message + "; the file gets no index";
  return {};
}

Status KernelRecorder::write_tail(EndSummary& summary, std::optional<int> workload_status,
                                  std::vector<Descendant> descendants) {
  fkt_status& status = summary.status;
  std::string no_index;
  const auto end = FKT_TRY(device_.clocks(request_.clock));
  CpuStates cpus = cpu_states(device_, status.cpus);
  std::vector<fkt_index_entry> entries = index(status, no_index);
  Status joined = Done{};
  std::string definitions = defined_->lines();
  if (user_events_) {
    joined = user_events_->join(output_, entries, status, cpus);
    definitions += user_events_->definitions();
  }
  fkt_status of_file = status;
  Ending ending{.end = end,
                .cpus = cpus,
                .task_list = task_list_,
                .status = of_file,
                .mask = mask_ ? mask_ : mask(),
                .workload_status = workload_status,
                .descendants = std::move(descendants),
                .index = std::move(entries),
                .groups = {},
                .before = {},
                .snapshots = snapshots_ ? snapshots_->left() : PartCpus{},
                .tasks = tasks_at_begin_,
                .definitions = std::move(definitions),
                .hits = summary.hits};
  if (files_) {
    files_->describe_last(ending);
    of_file.bytes_written = files_->bytes_of_last();
  }
  const auto tail = FKT_TRY(sections_after(ending));
  if (PageSink* to = sink()) return to->write_tail(tail);
  const std::uint64_t pages_end = output_.pages_offset() + status.pages_written * facts_.page_bytes;
  const Status written = output_.write_tail(pages_end, tail);
  if (written && !no_index.empty()) cli::warn(no_index);
  if (written && !joined) {
    cli::warn(output_.name() +
              ": the events of user programs are not in it: " + joined.error().message);
  }
  return written;
}

void KernelRecorder::discard() {
  const Status stopped = stop();
  if (!stopped) cli::warn(stopped.error().message);
  drain_.reset();
  if (remote_) remote_->discard();
  if (user_events_) user_events_->discard();
  output_.discard();
}

void KernelRecorder::release() {
  const Status freed = device_.free_buffer();
  if (!freed) cli::warn(freed.error().message);
}

}  // namespace fkt::record
