// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/status/end_screen.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "cli/base/answer.h"

namespace fkt::record {

void show_end_screen(const std::string& name) {
  const cli::Terminal screen = cli::terminal(STDERR_FILENO);
  struct stat file {};
  if (!screen.is) return;
  if (::stat(name.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return;
  const Result<Recording> recording = Recording::open(name);
  if (!recording) return;  // its error was printed already
  if (!cli::answer_is_quick(*recording)) {
    std::fputs(cli::answer_hint(name).c_str(), stderr);
    return;
  }
  const Answer answer = cli::read_answer(*recording, {}, cli::kAnswerRows, cli::kAnswerSlowest);
  if (answer.events == 0) return;
  const TimeFormat time(TimeUnit::readable, recording->info().clocks.ticks_per_second());
  TextWriter out;
  out.put('\n');
  cli::write_answer(out, answer, name, screen, time);
  std::fwrite(out.view().data(), 1, out.size(), stderr);
}

}  // namespace fkt::record
