// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/select.h"

#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/base/damage.h"
#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/selection_options.h"
#include "cli/base/text_file.h"
#include "cli/base/units.h"
#include "cli/fkt_selection/api.h"
#include "cli/fkt_selection/html_file.h"
#include "cli/fkt_selection/page.h"
#include "cli/fkt_selection/png.h"
#include "cli/fkt_selection/server.h"
#include "lib/base/random.h"
#include "lib/format/clocks.h"
#include "lib/picture/overview.h"
#include "lib/read/damage.h"
#include "lib/slice/checkpoint_cache.h"

extern char** environ;

namespace fkt::cli {
namespace {

constexpr std::uint32_t kPictureColumns = 1000;  // of --svg and --png
constexpr std::uint32_t kTerminalColumns = 80;   // if stdout is not a terminal

void add_options(Options& options) {
  auto add = options.section("Without a browser");
  add("svg", value("OUT"), "draw the overview as SVG");
  add("png", value("OUT"), "draw the overview as PNG");
  add("text", "draw the overview as text");
  add("html", value("OUT"),
      "write the page as one file, with as much of the recording as fits: to send to somebody");
  add("size", value("BYTES"), "the most that --html writes (default 5M)");
  add = options.section("Which part is drawn");
  add("from", value("T"), "from this time on: 1.5 (s), 250ms, 14:03:22.5");
  add("to", value("T"), "up to this time");
  add("time", value("UNIT"), "its times in cycles, ns, us, ms or s (default s)");
  add = options.section("With a browser");
  add("no-browser", "print the page's address and start no browser");
  options.positional("FILE", 1);
}

std::uint32_t terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return kTerminalColumns;
  return size.ws_col;
}

Result<TimeScale> scale_of(const Options& options, const Model& model, std::uint32_t columns) {
  TimeScale scale{model.timeline().begin(), model.timeline().end(), columns};
  const auto span = FKT_TRY(time_span(options, model.recording()));
  scale.from = span.from.value_or(scale.from);
  scale.to = span.to.value_or(scale.to);
  if (scale.from >= scale.to) return usage("--from: not before --to");
  return scale;
}

Status write_file(const std::string& path, const std::string& text) {
  auto file = FKT_TRY(TextFile::create(path));
  file.out().put(text);
  return file.flush(true);
}

Overview overview_of(const Model& model, const TimeScale& scale, std::optional<TimeUnit> unit) {
  PassControl control;
  const Recording& recording = model.recording();
  const Density density(recording, std::max(1U, std::thread::hardware_concurrency()), control);
  for (const Density::Damage& found : density.damage()) {
    recording.note_damage(recording.pages()[found.page], found.error);
  }
  return Overview{recording,    density.cells(scale), gaps_in(density.gaps(), scale),
                  model.zero(), damage_of(recording), unit};
}

Status draw(const Options& options, const Model& model) {
  std::optional<TimeUnit> unit;
  if (options.has("time")) {
    unit = FKT_TRY(parse_unit(options.text("time")));
  }
  if (options.has("png") && !png_available()) {
    return Error{ErrorCode::io,
                 "--png: this program was built without librsvg (packaging/setup web installs "
                 "what it needs); --svg draws the same"};
  }
  if (options.has("text")) {
    const auto scale =
        FKT_TRY(scale_of(options, model, terminal_columns() - Overview::kTextMargin));
    FKT_TRY(put(overview_of(model, scale, unit).text()));
  }
  if (!options.has("svg") && !options.has("png")) return Done{};
  const auto scale = FKT_TRY(scale_of(options, model, kPictureColumns));
  const std::string svg = overview_of(model, scale, unit).svg();
  if (options.has("svg")) {
    FKT_TRY(write_file(options.text("svg"), svg));
  }
  if (!options.has("png")) return Done{};
  const Result<std::string> png = png_of(svg);
  if (!png) return about("--png", png.error());
  return write_file(options.text("png"), *png);
}

constexpr std::uint64_t kLeastHtml = 100'000;  // bytes that --size leaves for the recording

Result<std::uint64_t> html_bytes(const Options& options) {
  HtmlFileRequest request;
  if (!options.has("size")) return request.most_bytes;
  const auto bytes = FKT_TRY(parse_size("--size", options.text("size")));
  const std::uint64_t least = selection_page().size() + kLeastHtml;
  if (bytes < least) {
    return usage("--size: " + options.text("size") + " is too little: the page itself has " +
                 bytes_text(selection_page().size()) + "; at least " + bytes_text(least));
  }
  return bytes;
}

// Reads the recording whole and writes the page with it.
Status write_html(const Options& options, Model& model) {
  if (selection_page().empty()) {
    return Error{ErrorCode::io, std::string(selection_page_missing())};
  }
  const auto bytes = FKT_TRY(html_bytes(options));
  model.start();
  model.wait();  // the end of the recording is known then
  const auto scale = FKT_TRY(scale_of(options, model, kPictureColumns));
  const auto text =
      FKT_TRY(html_file(model, {.from = scale.from, .to = scale.to, .most_bytes = bytes}));
  return write_file(options.text("html"), text);
}

// Starts xdg-open in the background. Returns false if that failed.
bool open_browser(const std::string& url) {
  std::string program = "xdg-open", address = url;
  char* argv[] = {program.data(), address.data(), nullptr};
  pid_t pid = 0;
  return posix_spawnp(&pid, program.c_str(), nullptr, nullptr, argv, environ) == 0;
}

// Makes malloc return memory to the kernel: answers of megabytes are built on many threads, and the
// memory that each keeps for reuse would add up.
void give_memory_back() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

// Serves the page until Ctrl-C or SIGTERM.
Status serve(const Options& options, Model& model) {
  if (selection_page().empty()) {
    return Error{ErrorCode::io, std::string(selection_page_missing())};
  }
  give_memory_back();
  const auto token = FKT_TRY(random_token());
  const ExtractCommand extract_command =
      ExtractCommand::beside_this(model.file(), model.recording().info().clocks.ticks_per_second());
  const Api api(model, extract_command);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // inherited by all threads started after this
  Server server(api, selection_page(), token);
  FKT_TRY(server.start());
  model.start();
  FKT_TRY(put(server.url() + '\n'));
  if (!options.has("no-browser") && !open_browser(server.url())) {
    warn("no xdg-open here: open the address above in a browser");
  }
  int signal = 0;
  while (sigwait(&ends, &signal) != 0) continue;
  return Done{};
}

Status check(const Options& options, bool drawn, bool html) {
  if ((drawn || html) && options.has("no-browser")) return usage("--no-browser: nothing is served");
  if (options.has("size") && !html) return usage("--size: only with --html");
  if (options.has("time") && !drawn) return usage("--time: only with --svg, --png or --text");
  if (!drawn && !html && (options.has("from") || options.has("to"))) {
    return usage("--from, --to: only with --svg, --png, --text or --html");
  }
  return Done{};
}

}  // namespace

int select_part(int argc, const char* const* argv) {
  Options options("[options] [FILE]",
                  "Shows a whole recording in the browser, to choose a part of it and cut it out: "
                  "FILE (default\ntrace_file, -: standard input). Ends with Ctrl-C.");
  add_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  const bool drawn = options.has("svg") || options.has("png") || options.has("text");
  const bool html = options.has("html");
  const Status possible = check(options, drawn, html);
  if (!possible) return fail(possible.error());
  const std::string file =
      options.arguments().empty() ? std::string("trace_file") : options.arguments()[0];
  Result<Recording> recording = Recording::open_unsplit(file);
  if (!recording) return fail(recording.error());
  if (recording->pages().empty()) {
    say_damage(file, *recording);
    return fail({ErrorCode::damaged, file + ": no page of events in it"});
  }
  if (drawn || html) recording->split();
  Model model(std::move(*recording), file, {.folder = html ? std::string{} : cache_folder()});
  Status done = drawn ? draw(options, model) : Done{};
  if (done && html) done = write_html(options, model);
  if (!drawn && !html) done = serve(options, model);
  if (!done) return fail(done.error(), file, model.recording());
  return drawn || html ? say_damage(file, model.recording()) : kDone;
}

}  // namespace fkt::cli
