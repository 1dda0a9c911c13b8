// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/request/request.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fkt/wire.h>

#include <algorithm>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/units.h"
#include "cli/fkt_record/boot/boot_recorder.h"
#include "cli/fkt_record/instruments/instrument_kinds.h"
#include "cli/fkt_record/instruments/instrument_setup.h"
#include "cli/fkt_record/instruments/mapped_code.h"
#include "cli/fkt_record/instruments/place_list.h"
#include "cli/fkt_record/kft/kft_configuration.h"
#include "cli/fkt_record/kft/kft_options.h"
#include "cli/fkt_record/request/record_options.h"
#include "cli/fkt_record/start/engine_name.h"
#include "lib/base/suggest.h"
#include "lib/format/page_group.h"
#include "lib/instrument/trigger_compiler.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::record {
namespace {

constexpr std::uint64_t kMostKept = 1'000'000;
// Room for a call's event without values, and for the events of switches between calls (bytes).
constexpr std::uint64_t kCallBytes = 32;
constexpr std::uint64_t kMostCallsKept = 1ULL << 32;
constexpr std::uint32_t kLeastPow = 1, kMostPow = 16;  // the limits of the module

using cli::Options;
using cli::usage;

// Reads a size into `size` if the option was given. shown: the option as the user types it. Error
// (usage): it is no size, or 0.
template <class Size>
Status read_size(const Options& options, const char* name, const std::string& shown, Size& size) {
  if (!options.has(name)) return Done{};
  const auto read = FKT_TRY(cli::parse_size(shown, options.text(name)));
  if (read == 0) return usage(shown + ": 0 bytes leave no room for any event");
  size = read;
  return Done{};
}

// Likewise a whole number in [least, most], which `store` gets.
template <class Store>
Status whole(const Options& options, const char* name, const char* shown, std::uint64_t least,
             std::uint64_t most, Store store) {
  if (!options.has(name)) return Done{};
  const auto number = FKT_TRY(cli::parse_whole(shown, options.text(name), least, most));
  store(number);
  return Done{};
}

Status read_numbers(const Options& options, Request& r) {
  FKT_TRY(read_size(options, "-s", "-s", r.size));
  if (options.has("duration")) {
    const auto duration = cli::parse_duration("--duration", options.text("duration"));
    if (!duration) return duration.error();
    if (*duration == 0) return usage("--duration: must be more than nothing");
    r.duration_ns = *duration;
  }
  FKT_TRY(whole(options, "-p", "-p", kLeastPow, kMostPow,
                [&r](std::uint64_t number) { r.pow_pages = static_cast<std::uint32_t>(number); }));
  return whole(options, "pid", "--pid", 1, FKT_PID_MASK, [&r](std::uint64_t number) {
    r.filter = FKT_FILTER_PROCESS;
    r.filter_pid = static_cast<std::int32_t>(number);
  });
}

// Reads -k and --also.
Status read_layers(const Options& options, Request& r) {
  if (options.has("-k")) {
    auto layers = FKT_TRY(choose_layers("-k", options.text("-k")));
    r.mask = layers.mask;
    r.layers.add(std::move(layers));
  }
  if (options.has("also")) {
    auto layers = FKT_TRY(choose_layers("--also", options.text("also")));
    r.layers.add(std::move(layers));
  }
  return Done{};
}

Status check_when(const Expression& when, std::uint64_t mask) {
  const Result<Trigger> made = compile_trigger(when, {.mask = mask});
  return made ? Status(Done{}) : made.error();
}

Result<Request::WhenFull> parse_when_full(const std::string& word) {
  if (word == "pause") return Request::WhenFull::pause;
  if (word == "stop") return Request::WhenFull::stop;
  if (word == "overwrite") return Request::WhenFull::overwrite;
  return usage("--when-full: \"" + word + "\" is not one of pause, stop, overwrite" +
               did_you_mean(word, {"pause", "stop", "overwrite"}));
}

// The smallest -p with which the rings of all online CPUs together hold `bytes` bytes; 0 if none is
// large enough.
std::uint32_t pow_for(std::uint64_t bytes) {
  const auto cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (std::uint32_t pow = kLeastPow; pow <= kMostPow; ++pow) {
    if ((std::uint64_t{4096} << pow) * cpus >= bytes) return pow;
  }
  return 0;
}

// Reads the options that only the engine uring supports: --rotate, -z, --keep.
Status read_files(const Options& options, Request& r) {
  FKT_TRY(read_size(options, "rotate", "--rotate", r.rotate));
  FKT_TRY(whole(options, "-z", "-z", kLeastGroupLevel, kMostGroupLevel,
                [&r](std::uint64_t number) { r.level = static_cast<int>(number); }));
  return whole(options, "keep", "--keep", 1, kMostKept,
               [&r](std::uint64_t number) { r.keep = static_cast<unsigned>(number); });
}

// Checks these options against the others; -z and --rotate select the engine uring.
Status check_files(const Options& options, Request& r) {
  if (options.has("keep") && r.rotate == 0) return usage("--keep: only with --rotate");
  if (!r.level && r.rotate == 0) return Done{};
  const std::string name = r.level ? "-z" : "--rotate";
  if (r.engine && *r.engine != FKT_ENGINE_URING) {
    return usage(name + ": not with --drain=" + engine_name(*r.engine) +
                 ", only with uring (or without --drain)");
  }
  if (r.output.to_stdout()) return usage(name + ": not to standard output");
  if (r.rotate != 0 && r.size) return usage("--rotate and -s: only one of the two");
  if (r.rotate != 0 && r.when_full == Request::WhenFull::overwrite) {
    return usage("--rotate: a flight recorder writes one file, at its end");
  }
  r.engine = FKT_ENGINE_URING;
  return Done{};
}

// Reads how pages are written and what happens when a CPU has no free page.
Status read_flow(const Options& options, Request& r) {
  if (options.has("drain")) {
    r.engine = FKT_TRY(parse_engine(options.text("drain")));
  }
  FKT_TRY(cli::read_duration(options, "sync", r.sync));
  if (options.has("when-full")) {
    r.when_full = FKT_TRY(parse_when_full(options.text("when-full")));
  }
  if (!options.has("flight")) return Done{};
  const auto size = FKT_TRY(cli::parse_size("--flight", options.text("flight")));
  r.when_full = Request::WhenFull::overwrite;
  r.pow_pages = pow_for(size);
  if (r.pow_pages == 0) return usage("--flight: at most 256M for each CPU");
  return Done{};
}

// Reads the options for snapshots that a flight recorder writes by itself.
Status read_snapshots(const Options& options, Request& r) {
  for (const char* name : {"snapshot-when", "snapshot-after", "snapshots"}) {
    if (options.has(name) && r.when_full != Request::WhenFull::overwrite) {
      return usage(std::string("--") + name + ": only of a flight recorder (see --flight)");
    }
  }
  if (options.has("snapshots") && !options.has("snapshot-when") && !options.has("instrument")) {
    return usage("--snapshots: only with --snapshot-when or -i");
  }
  if (options.has("snapshot-when")) {
    Result<Expression> when = Expression::parse(options.text("snapshot-when"));
    // Checked before anything is opened. The clock's rate is not needed for the check.
    const Status good = when ? check_when(*when, r.mask) : when.error();
    if (!good) return usage("--snapshot-when: " + good.error().message);
    r.snapshot_when = std::move(*when);
  }
  FKT_TRY(cli::read_duration(options, "snapshot-after", r.snapshot_after));
  if (r.snapshot_after.count() > static_cast<std::int64_t>(kMostSnapshotAfter)) {
    return usage("--snapshot-after: at most 24h");
  }
  return whole(options, "snapshots", "--snapshots", 1, kMostKept,
               [&r](std::uint64_t number) { r.snapshots = static_cast<unsigned>(number); });
}

// Checks what is in the lists of layers.
Status check_layers(const Request& r) {
  for (const LayerFile& file : r.layers.files) {
    for (const LayerLine& line : file.lines) {
      const std::string where = file.path + ':' + std::to_string(line.number) + ": ";
      const Status good = check_instrument(line.instrument);
      if (!good) return usage(where + good.error().message);
      if (r.clock != FKT_CLOCK_TSC && line.instrument.place.kind == Place::Kind::call) {
        return usage(where + "not with --clock mono: calls are timed by the TSC");
      }
    }
  }
  return Done{};
}

// Reads the configuration that fkt.kft=... on the kernel's command line names.
Result<std::optional<KftPlan>> read_boot_plan() {
  const auto path = FKT_TRY(boot_configuration());
  auto plan = FKT_TRY(read_kft_plan(path));
  return std::optional(std::move(plan));
}

// Sets what the plan has: instruments, begin, duration, limits, the rule for held calls. Error
// (usage): --duration was given although the plan has a duration, or an instrument is not
// supported.
Status add_kft(KftPlan plan, Request& r) {
  for (const Instrument& instrument : plan.instruments) FKT_TRY(check_instrument(instrument));
  r.instruments = plan.instruments;
  if (plan.lasts && r.duration_ns) {
    return usage("--duration: the configuration has a trigger stop time, which is the same");
  }
  if (plan.lasts) r.duration_ns = static_cast<std::uint64_t>(plan.lasts->count());
  r.begins_at = plan.begins_at;
  r.keep_children = plan.keep;
  if (plan.overwrites) r.when_full = Request::WhenFull::overwrite;
  if (plan.most_calls && !plan.overwrites) r.most_calls = plan.most_calls;
  r.kft = std::move(plan);
  return Done{};
}

// Reads --kft and the options in its place: their triggers must be the first instruments.
Status read_kft(const Options& options, Request& r) {
  const bool is_asked = has_kft(options);
  const bool from_boot =
      options.has("from-boot") && !is_asked && !options.has("instrument") && !options.has("-k");
  if (!is_asked && !from_boot) return Done{};
  if (options.has("flight") || options.has("when-full")) {
    return usage("--kft: the configuration says what happens when the buffer is full (overwrite)");
  }
  const auto asked = FKT_TRY(from_boot ? read_boot_plan() : kft_plan_of(options));
  const KftPlan* const plan = &*asked;
  if (!options.has("-k")) r.mask = 1ULL << FKT_L_PROCESS;
  if (plan->overwrites && plan->most_calls && !options.has("-p")) {
    // All calls may happen on one CPU, so the ring of each CPU must have room for them.
    const auto cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    const bool fits = *plan->most_calls <= kMostCallsKept;
    r.pow_pages = fits ? pow_for(*plan->most_calls * kCallBytes * cpus) : 0;
    if (r.pow_pages == 0) return usage("--kft: logentries: the buffer has no room for so many");
  }
  return add_kft(*plan, r);
}

Status read_keep(const Options& options, Request& r) {
  const bool is_kft = has_kft(options), self = options.has("self");
  if (self && options.has("no-self")) return usage("--self: not with --no-self");
  if (self && !options.has("instrument")) return usage("--self: only with -i");
  // A configuration of KFT names the wanted calls, so calls of this process are recorded, too.
  r.with_self = is_kft || self;
  if (!options.has("keep-children")) return Done{};
  if (!options.has("instrument") && !is_kft)
    return usage("--keep-children: only with -i, -F, --mintime or --kft");
  if (r.keep_children) return usage("--keep-children: the configuration says that already");
  const Result<KeepChildren> keep = KeepChildren::parse(options.text("keep-children"));
  if (!keep) return usage("--keep-children: " + keep.error().message);
  r.keep_children = *keep;
  return Done{};
}

Status read_instruments(const Options& options, Request& r) {
  FKT_TRY(read_keep(options, r));
  for (const std::string& text : options.texts("instrument")) {
    Result<Instrument> instrument = Instrument::parse(text);
    if (!instrument) return usage("-i \"" + text + "\": " + instrument.error().message);
    FKT_TRY(check_instrument(*instrument));
    r.instruments.push_back(std::move(*instrument));
  }
  const auto sees_returns = [](const Instrument& instrument) {
    const Place& place = instrument.place;
    return place.kind == Place::Kind::call ||
           (place.kind == Place::Kind::function && place.point != Place::Point::entry);
  };
  if (r.clock != FKT_CLOCK_TSC && std::ranges::any_of(r.instruments, sees_returns)) {
    return usage("-i: not with --clock mono: calls are timed by the TSC");
  }
  if (!r.instruments.empty()) r.mask |= 1ULL << FKT_L_INSTRUMENTS;
  if (records_stacks(r.instruments, r.layers.files) && can_record_mapped_code()) {
    r.layers.files.push_back(FKT_TRY(mapped_code_list()));
    r.mask |= 1ULL << FKT_L_INSTRUMENTS;
  }
  return check_layers(r);
}

Status read_remote(const Options& options, Request& r) {
  for (const char* name : {"token-file", "wait"}) {
    if (options.has(name) && !r.output.to_remote()) {
      return usage(std::string("--") + name + ": only with -f tcp://HOST:PORT");
    }
  }
  if (!r.output.to_remote()) return Done{};
  if (r.level || r.rotate != 0) {
    return usage(std::string(r.level ? "-z" : "--rotate") + ": not with -f tcp://HOST:PORT");
  }
  if (options.has("token-file")) r.token_file = options.text("token-file");
  FKT_TRY(r.address());
  return cli::read_duration(options, "wait", r.wait);
}

Status read_rest(const Options& options, Request& r) {
  if (options.has("-f")) r.output.file = options.text("-f");
  if (options.has("-S")) r.system_map = options.text("-S");
  if (options.has("user")) r.user = options.text("user");
  r.output.replace = replace_rule(!options.has("-f"), options.has("force"));
  if (r.output.to_remote() && r.boot == Request::Boot::end)
    return usage("--boot: to a file, not to another machine");
  r.args = options.has("args");
  r.pairs = !options.has("no-pairs");
  // With --from-boot, standard error becomes the kernel's log, in which a status line would be
  // repeated messages.
  r.quiet = options.has("-q") || r.boot == Request::Boot::begin;
  r.summary = !r.quiet && !options.has("no-summary");
  r.verbose = options.has("-v");
  r.command = options.arguments();
  if (options.has("clock")) {
    const std::string& name = options.text("clock");
    if (name != "tsc" && name != "mono") {
      return usage("--clock: \"" + name + "\" is not one of tsc, mono");
    }
    r.clock = name == "mono" ? FKT_CLOCK_MONO : FKT_CLOCK_TSC;
  }
  FKT_TRY(read_flow(options, r));
  FKT_TRY(read_snapshots(options, r));
  FKT_TRY(read_files(options, r));
  FKT_TRY(read_remote(options, r));
  FKT_TRY(read_instruments(options, r));
  if (r.output.file.empty()) return usage("-f: the file's name is empty");
  if (options.has("user") && r.user.empty()) return usage("--user: the name is empty");
  return Done{};
}

// Checks options that exclude each other.
Status check(const Options& options, Request& r) {
  const bool none = options.has("-n"), only = options.has("only"), pid = options.has("pid");
  if (none && !r.command.empty()) return usage("-n spawns nothing: drop it, or the COMMAND");
  if (only && pid) return usage("--only and --pid: only one of the two");
  if (only && r.command.empty()) return usage("--only: a COMMAND is needed (see --help)");
  if (r.command.empty() && options.has("user-only")) {
    return usage("--user-only: a COMMAND is needed (see --help)");
  }
  const bool records = !options.has("explain");
  if (records && !none && !pid && r.command.empty() && r.boot == Request::Boot::none) {
    return usage("a COMMAND is needed, or -n to spawn nothing (see --help)");
  }
  if (!r.command.empty() && r.command.front().empty()) return usage("the COMMAND is empty");
  if (options.has("flight") && options.has("-p"))
    return usage("--flight and -p: only one of the two");
  if (r.when_full == Request::WhenFull::overwrite && r.size) {
    return usage("-s: a flight recorder keeps what its pages hold (see --flight)");
  }
  if (options.has("-q") && r.verbose) return usage("-q and -v: only one of the two");
  if (records && r.output.to_stdout() && isatty(STDOUT_FILENO)) {
    return usage("-f -: standard output is a terminal; send it to a file or a program");
  }
  if (only) r.filter = FKT_FILTER_JOIN;
  // The other filters never record the recorder.
  if (options.has("no-self") && r.filter == FKT_FILTER_NONE) r.filter = FKT_FILTER_NOT_SELF;
  return Done{};
}

// Reads --functions, and which of them.
Status read_functions(const Options& options, Request& r) {
  r.functions = options.has("functions");
  if (!r.functions && options.has("-t")) {
    return usage("-t: only with --functions (for the kernel's functions: --mintime)");
  }
  if (!r.functions) return Done{};
  for (const char* name : {"-F", "-N"}) {
    if (!options.has(name)) continue;
    for (const std::string& pattern : options.texts(name)) {
      if (pattern.empty()) return usage(std::string(name) + ": the pattern is empty");
    }
  }
  FunctionRules& rules = r.function_rules;
  rules.inside = options.texts("-F");
  rules.outside = options.texts("-N");
  if (!options.has("-t")) return Done{};
  rules.least_ns = FKT_TRY(cli::parse_duration("-t", options.text("-t")));
  return Done{};
}

// Returns whether the output is a regular file, or will be. It is not opened: to open a pipe would
// wait for its reader.
bool is_for_file(const OutputPlan& output) {
  struct stat is {};
  if (output.to_stdout() || output.to_remote()) return false;
  return ::stat(output.file.c_str(), &is) != 0 || S_ISREG(is.st_mode) || S_ISDIR(is.st_mode);
}

// Checks a recording of the kernel and of user programs.
Status check_user_with_kernel(const Options& options, Request& r) {
  const std::string chosen = r.functions ? "--functions" : "-k user";
  for (const char* name : {"pid", "-n", "flight", "when-full", "drain", "-z", "rotate"}) {
    if (options.has(name)) {
      return usage(chosen + ": not with " + options.shown(name));
    }
  }
  if (r.command.empty()) return usage(chosen + ": a COMMAND is needed (see --help)");
  if (!is_for_file(r.output)) {
    return usage(chosen + ": to a file only, not with -f " + r.output.file);
  }
  // Switches say on which CPU a thread ran.
  r.mask |= 1ULL << FKT_L_USER | 1ULL << FKT_L_PROCESS;
  return Done{};
}

// Checks how the events of user programs are recorded.
Status check_user(const Options& options, Request& r) {
  constexpr std::uint64_t kUser = 1ULL << FKT_L_USER;
  FKT_TRY(read_functions(options, r));
  const std::string chosen = r.functions ? "--functions" : "--user-only";
  if (!options.has("user-only")) {
    constexpr const char* kOfKernel[] = {"-k", "also", "instrument", "args",
                                         "-S", "only", "no-self",    "no-pairs"};
    const bool with_kernel =
        has_kft(options) ||
        std::ranges::any_of(kOfKernel, [&](const char* name) { return options.has(name); });
    if ((r.mask & kUser) != 0 || (r.functions && with_kernel)) {
      return check_user_with_kernel(options, r);
    }
    if (!r.functions) return Done{};
  }
  const char* const statement = kft_statement_option(options);
  for (const char* name :
       {"-k", "also", "instrument", "kft", "args", "pid", "only", "-n", "-S", "flight", "when-full",
        "drain", "-z", "rotate", "no-self", "no-pairs", statement}) {
    if (name != nullptr && options.has(name)) {
      return usage(chosen + ": not with " + options.shown(name) +
                   ", which is for what the kernel does");
    }
  }
  if (!is_for_file(r.output)) {
    return usage(chosen + ": to a file only, not with -f " + r.output.file);
  }
  r.user_only = true;
  r.mask = kUser;
  return Done{};
}

// Reads --from-boot and --boot. Error (usage): other options that cannot be combined with them.
Status read_boot(const Options& options, Request& r) {
  const bool begins = options.has("from-boot"), ends = options.has("boot");
  if (!begins && !ends) return Done{};
  const std::string chosen = begins ? "--from-boot" : "--boot";
  if (begins && ends) return usage("--from-boot and --boot: only one of the two");
  if (!options.arguments().empty()) return usage(chosen + ": without a COMMAND");
  r.boot = begins ? Request::Boot::begin : Request::Boot::end;
  // Options that the chosen one cannot be combined with. --boot records nothing itself.
  std::vector<const char*> others = {"pid",  "only",   "user-only", "functions",
                                     "user", "rotate", "wait",      "token-file"};
  if (begins) {
    others.insert(others.end(), {"-f", "no-summary"});
  } else {
    others.insert(others.end(), {"-k", "also", "instrument", "kft", "args", "-n", "-S", "-s", "-p",
                                 "-z", "flight", "when-full", "drain", "no-self", "no-pairs",
                                 "clock", "duration", "sync"});
    if (const char* const statement = kft_statement_option(options)) others.push_back(statement);
  }
  for (const char* name : others) {
    if (options.has(name)) {
      return usage(chosen + ": not with " + options.shown(name));
    }
  }
  if (begins) r.output.file = kBootFile;
  return Done{};
}

Result<Request> request_of(const Options& options) {
  Request r;
  Status status = read_boot(options, r);
  if (status) status = read_layers(options, r);
  if (status) status = read_numbers(options, r);
  if (status) status = read_kft(options, r);
  if (status) status = read_rest(options, r);
  if (status) status = check(options, r);
  if (status) status = check_files(options, r);
  if (status) status = check_user(options, r);
  if (!status) return status.error();
  return r;
}

Result<std::string> explanation(const Options& options) {
  if (!has_kft(options)) return usage("--explain: only with --kft, or -F, --mintime, ...");
  const auto request = FKT_TRY(request_of(options));
  const std::string layers = options.has("-k") ? options.text("-k") : "process";
  return explain_kft(
      {*request.kft, layers, request.instruments, request.keep_children, request.duration_ns});
}

// Returns the text of an option that prints something instead of recording; nothing: none is given.
std::optional<Result<std::string>> shown_instead(const Options& options) {
  for (const char* name : {"layers", "list"}) {
    if (options.has(name) && !options.arguments().empty()) {
      return usage("\"" + options.arguments().front() + "\": --" + name +
                   " takes no COMMAND (a pattern is to be quoted)");
    }
  }
  if (options.has("layers")) return layers_text();
  if (options.has("list")) return list_places(options.texts("list"), options.has("-v"));
  if (options.has("explain")) return explanation(options);
  return std::nullopt;
}

int show(const Result<std::string>& text) {
  const Result<bool> shown = text ? cli::put_lines(*text) : text.error();
  return shown ? cli::kDone : cli::fail(shown.error());
}

}  // namespace

Result<remote::Address> Request::address() const {
  return remote::parse_address("-f", std::string_view(output.file).substr(remote::kScheme.size()));
}

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options("[options] [--] COMMAND [ARG...]",
                  "Records what the kernel does while COMMAND runs.");
  add_record_options(options);
  if (const auto status = options.parse(argc, argv)) return {std::nullopt, *status};
  if (const auto text = shown_instead(options)) return {std::nullopt, show(*text)};
  Result<Request> request = request_of(options);
  if (!request) return {std::nullopt, cli::fail(request.error())};
  const std::string preset = options.preset_text();
  if (!preset.empty() && !request->quiet) cli::warn(preset);
  const auto all = static_cast<std::size_t>(argc);
  const std::size_t options_end = all - request->command.size();
  for (std::size_t i = 1; i < options_end; ++i) request->words.push_back(argv[i]);
  return {std::move(*request), cli::kDone};
}

}  // namespace fkt::record
