// SPDX-License-Identifier: GPL-2.0-only
// fkt_sym2addr [-m SYMBOLS] [FILE]: a text with names of the kernel's functions replaced by
// addresses.
#include "cli/base/messages.h"
#include "cli/base/symbol_source.h"
#include "lib/base/text.h"
#include "lib/format/symbol_words.h"

namespace {

using namespace fkt;

// Says which names were left, and of which kernel the addresses are unless that was said. Returns
// the tool's exit status.
int tell(const NameWords& words, bool is_said) {
  if (words.replaced() > 0 && !is_said) {
    cli::warn("the addresses are those of the kernel that runs here (-m MAP: of another one)");
  }
  for (const auto& [name, addresses] : words.ambiguous()) {
    std::string list;
    for (const std::uint64_t address : addresses) list += (list.empty() ? "" : ", ") + hex(address);
    cli::warn(name + " is left as it is: " + std::to_string(addresses.size()) +
              " functions have this name (" + list + ')');
  }
  for (const std::string& name : words.unknown()) {
    cli::warn(name + " is left as it is: no function of " +
              (is_said ? "that kernel" : "this kernel") + " has this name");
  }
  return words.ambiguous().empty() && words.unknown().empty() ? cli::kDone : cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  cli::Options options("[options] [FILE]",
                       "Prints FILE, or standard input, with the addresses of kernel functions in "
                       "the place of their names.");
  cli::add_symbol_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  const Result<Symbols> symbols = cli::symbols_of(options);
  if (!symbols) return cli::fail(symbols.error());
  NameWords words(*symbols);
  const Status done =
      cli::translate(options, [&](std::string_view line) { return words.translated(line); });
  return done ? tell(words, options.has("map")) : cli::fail(done.error());
}
