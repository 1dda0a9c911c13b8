// SPDX-License-Identifier: GPL-2.0-only
// fkt_addr2sym [-m SYMBOLS] [FILE]: a text with the kernel's addresses replaced by names.
#include "cli/base/messages.h"
#include "cli/base/symbol_source.h"
#include "lib/format/symbol_words.h"

int main(int argc, char** argv) {
  using namespace fkt;
  cli::Options options("[options] [FILE]",
                       "Prints FILE, or standard input, with the names of kernel functions and "
                       "variables in the place of their addresses.");
  cli::add_symbol_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  const Result<Symbols> symbols = cli::symbols_of(options);
  if (!symbols) return cli::fail(symbols.error());
  const AddressWords words(*symbols);
  const Status done =
      cli::translate(options, [&](std::string_view line) { return words.translated(line); });
  return done ? cli::kDone : cli::fail(done.error());
}
