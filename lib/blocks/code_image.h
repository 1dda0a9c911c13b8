// SPDX-License-Identifier: GPL-2.0-only
// CodeImage: the machine code of a kernel with its modules, or of one file: bytes by address,
// functions, and the instructions that the kernel itself changes or looks up by their addresses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/result.h"
#include "lib/format/symbols.h"

namespace fkt {

struct CodeFunction {
  std::uint64_t begin = 0, end = 0;  // the end may be behind padding
  // What lies before `end` need not be code: it is the last function of a section whose size is not
  // known.
  bool has_open_end = false;
  std::string_view name;
  std::string_view module;  // empty: the kernel's own
  // Why the kernel must not be stopped in it (static text); nullptr: it may be.
  const char* forbidden = nullptr;
};

enum class SiteKind : std::uint8_t {
  exception,    // it may fault, and goes on at `target` then
  jump_label,   // a static branch to `target`: a jump there, or a nop
  static_call,  // a call or jump whose target is changed while the kernel runs
  bug,          // a trap from which it does not go on
  warning,      // a trap from which it goes on, or a call that warns
};

struct CodeSite {
  std::uint64_t address = 0;
  std::uint64_t target = 0;
  SiteKind kind = SiteKind::exception;
};

class CodeImage {
 public:
  // Reads a kernel (vmlinux) or a module (.ko). A module's sections get addresses from
  // kModuleBegin on. Error (io): it cannot be read; (usage): it is neither.
  static Result<CodeImage> of_file(const std::string& path);
  // Reads a kernel or a module from the bytes of its file. Errors call it `name`.
  static Result<CodeImage> of_bytes(std::string bytes, const std::string& name);
  // Reads the running kernel and its modules. proc, sys: where these are mounted. Error: the
  // kernel hides its memory or its addresses from this process, and how to get at them.
  static Result<CodeImage> of_running_kernel(const std::string& proc = "/proc",
                                             const std::string& sys = "/sys");
  static constexpr std::uint64_t kModuleBegin = 0xffffffffc0000000;
  // Functions that a module's file needs of others get addresses from here on.
  static constexpr std::uint64_t kMissingBegin = 0xffffffffe0000000;
  static bool is_missing(const CodeFunction& function) { return function.begin >= kMissingBegin; }

  // Returns the bytes from an address on, at most `most`; empty: there are none.
  ByteView at(std::uint64_t address, std::uint64_t most) const;
  // Ascending, one for each address.
  std::span<const CodeFunction> functions() const { return functions_; }
  // Returns the function that the address is in; nullptr: none.
  const CodeFunction* function_at(std::uint64_t address) const;
  // Returns those that have this name, which may be one of several of a function.
  std::vector<const CodeFunction*> named(std::string_view name) const;
  // Returns what is at an instruction; an instruction may have several.
  std::span<const CodeSite> sites_at(std::uint64_t address) const;
  // Returns the name of a function with the offset in it: "vfs_read+0x1c"; an address in no
  // function in hexadecimal.
  std::string name_of(std::uint64_t address) const;

  // Where code is in its file.
  struct Origin {
    std::string_view module;   // empty: the kernel, or the module's file that was read
    std::string_view section;  // empty: the kernel, whose offsets count from its symbol _stext
    std::uint64_t offset = 0;
  };
  // Returns nothing where there is no code.
  std::optional<Origin> origin_of(std::uint64_t address) const;
  std::optional<std::uint64_t> address_of(const Origin& origin) const;

  // What an image is made of: see finish().
  struct Piece {
    std::uint64_t address = 0;
    std::string bytes;
    bool is_code = false;
    bool has_open_end = false;        // the last bytes need not belong to it
    std::string module{}, section{};  // as in Origin
  };
  struct Range {
    std::uint64_t begin = 0, end = 0;
    bool holds(std::uint64_t address) const { return address - begin < end - begin; }
  };
  struct Parts {
    std::vector<Piece> pieces;
    std::vector<Symbol> symbols;
    // What the symbols' names are views into.
    std::vector<std::shared_ptr<const std::string>> texts;
    // The tables of sites, by the kernel's names for their sections. open: the end is not known:
    // the table ends where an entry is of no code.
    struct Table {
      std::string_view name;
      Range range;
      bool open = false;
    };
    std::vector<Table> tables;
    std::vector<std::pair<Range, const char*>> forbidden;
    std::uint64_t kernel_text = 0;  // address of its symbol _stext; 0: this is no kernel
  };
  // Adds what the kernel's symbols say: where its text begins, the tables, and the ranges where the
  // kernel must not be stopped.
  static void add_marked(Parts& parts);
  // Puts an image together: finds its functions and reads its tables.
  static CodeImage finish(Parts parts);
  static constexpr std::string_view kTables[] = {"__ex_table", "__jump_table", ".static_call_sites",
                                                 "__bug_table"};

 private:
  void find_functions(const Parts& parts);
  // Returns the piece with code at this address; nullptr: none.
  const Piece* code_at(std::uint64_t address) const;
  void read_table(const Parts::Table& table);
  void read_bugs(Range table);

  std::vector<std::shared_ptr<const std::string>> texts_;
  std::vector<Piece> pieces_;  // ascending
  std::vector<CodeFunction> functions_;
  using NamedAddress = std::pair<std::string_view, std::uint64_t>;
  std::vector<NamedAddress> names_;  // ascending by name
  std::vector<CodeSite> sites_;      // ascending
  std::uint64_t kernel_text_ = 0;
};

}  // namespace fkt
