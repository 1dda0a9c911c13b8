// SPDX-License-Identifier: GPL-2.0-only
// The instruments of a recording: made of the texts of -i; their form for FKT_START, and their
// description in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/call_setup.h"
#include "cli/fkt_record/instruments/histogram_shape.h"
#include "cli/fkt_record/instruments/instruction_setup.h"
#include "cli/fkt_record/instruments/numbers.h"
#include "cli/fkt_record/instruments/point_setup.h"
#include "cli/fkt_record/instruments/user_setup.h"
#include "cli/fkt_record/sections/symbol_reader.h"
#include "lib/base/result.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/keep_children.h"
#include "lib/instrument/layer_file.h"
#include "lib/record/device.h"

namespace fkt::record {

class InstrumentSetup {
 public:
  // An instrument as the recording has it.
  struct Part {
    struct Reason {
      std::string name, reason;
    };

    std::string text;         // as typed
    unsigned layer = 0;       // number of its bit
    bool is_removed = false;  // has lost its places, and keeps its counts
    Action::Kind action = Action::Kind::record;
    Place place{};
    const char* of = "function";  // name of a place; also "tracepoint", "instruction", "probe"
    std::size_t places = 0;
    std::optional<HistogramShape> histogram{};
    // Number of functions that fit, but belong to an earlier instrument.
    std::size_t taken_before = 0;
    // Functions that have a return probe, because they cannot be called through.
    std::vector<Reason> by_probe{};
    std::vector<Reason> left_out{};
    // Tracepoints whose arguments are recorded in place of their own fields, with the reason.
    std::vector<Reason> by_arguments{};
  };

  // The wanted instruments: those of -i, and those in lists of layers.
  struct InstrumentRequest {
    std::span<const Instrument> instruments;
    std::span<const LayerFile> layers;
    // Instruments that the recording has. If one of `instruments` is among them and its module was
    // unloaded, it gets no places and keeps its counts.
    std::span<const Instrument> before = {};
    // The rule of --keep-children; nothing: there is none.
    std::optional<KeepChildren> keep = std::nullopt;
    // -i, with a pattern for functions, also records what this process and the module's threads
    // call.
    bool with_self = false;

    bool is_nothing() const { return instruments.empty() && layers.empty(); }
  };

  // Finds the functions, tracepoints, instructions and modules' probes that the instruments are
  // for. A function's calls belong to the first instrument on calls or exits that fits it, its
  // entries to the first one on entries, and to triggers besides (is_trigger()). symbols: of the
  // running kernel. numbering: gets the new places. before: the recording's present setup, whose
  // instruments keep their numbers; nullptr: there is none. Precondition: check_instrument() has
  // accepted each. Error (usage): an instrument of -i has no place; (io): the kernel's lists cannot
  // be read.
  static Result<InstrumentSetup> make(const InstrumentRequest& asked, const Device& device,
                                      SymbolReader& symbols, double ticks_per_second,
                                      Numbering& numbering, const InstrumentSetup* before);

  // Returns the arguments of FKT_START and FKT_EXCHANGE; valid as long as this object.
  const fkt_instruments& arguments() const { return *arguments_; }
  bool has_calls() const { return !calls_.empty(); }
  // Returns whether an instrument has this action.
  bool has(Action::Kind action) const;
  // Returns lines for the file's catalogue, without those of the numbering.
  const std::string& catalogue_lines() const { return calls_.catalogue_lines(); }
  // Returns the name of the place at this address, which the kernel refuses to probe.
  std::string name_of(std::uint64_t address, const Numbering& numbering) const;
  std::span<const Part> parts() const { return parts_; }
  const InstructionSetup& instructions() const { return instructions_; }
  // Returns "fprobe" or "kretprobe": the kind of return probes that the kernel has.
  const char* return_probe() const { return return_probe_; }
  // Returns messages about the lists of layers: a line for each list with the places that this
  // kernel lacks, and a line for each wrong value.
  std::span<const std::string> remarks() const { return remarks_; }
  // Returns the instruments of InstrumentRequest.before that have lost their places, with the
  // reasons.
  std::span<const Part::Reason> gone() const { return gone_; }
  // Returns the layers that are recorded from the start because of -i: a bit each.
  std::uint64_t layers() const { return layers_; }

 private:
  class Maker;
  InstrumentSetup() = default;
  void follow(const InstrumentSetup& before);

  std::vector<Part> parts_;
  const char* return_probe_ = "kretprobe";
  CallSetup calls_, entries_;  // calls_: exits, too
  InstructionSetup instructions_;
  std::vector<std::string> remarks_;
  std::vector<Part::Reason> gone_;
  PointSetup points_;
  UserSetup users_;
  std::uint64_t layers_ = 0;
  std::vector<fkt_instrument> instruments_;  // as parts_
  std::unique_ptr<fkt_instruments> arguments_ = std::make_unique<fkt_instruments>();
};

}  // namespace fkt::record
