// SPDX-License-Identifier: GPL-2.0-only
// The instruments of a recording, those of -i and those that fkt_instrument sets while it records.
// A separate thread answers the requests, one at a time, because finding places takes time.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/fkt_record/instruments/instrument_setup.h"
#include "cli/fkt_record/sections/defined.h"
#include "lib/base/background_task.h"
#include "lib/base/unique_fd.h"
#include "lib/record/device.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::record {

class InstrumentControl {
 public:
  struct Rules {
    std::span<const Instrument> instruments;  // of -i
    std::span<const LayerFile> layers;
    fkt_clock_source clock;
    double ticks_per_second;
    bool is_flight;  // instruments may take snapshots
    std::optional<KeepChildren> keep;
    bool with_self;  // InstrumentSetup::InstrumentRequest
  };

  // device: of the recording; it and what the rules refer to must outlive this object. defined:
  // gets the lines that are added to the catalogue while it records.
  InstrumentControl(Device& device, std::shared_ptr<Defined> defined, const Rules& rules);
  InstrumentControl(const InstrumentControl&) = delete;
  InstrumentControl& operator=(const InstrumentControl&) = delete;

  // Finds the places of -i and of the layers' lists. Called before the recording starts, once.
  Status prepare(SymbolReader& symbols);
  // Lines for the catalogue in the file's head. Called once, after prepare().
  std::string head_lines();
  // The instruments; nullptr: there have been none. Called while no request is being answered.
  const InstrumentSetup* setup() const { return setup_ ? &*setup_ : nullptr; }
  // Returns the name of the place at this address, which the kernel refuses to probe.
  std::string name_of(std::uint64_t address) const {
    return setup_ ? setup_->name_of(address, numbering_) : std::string();
  }

  // The text of the instrument with this index; also while a request is being answered.
  std::string text_at(std::uint32_t number) const;

  // Begins to answer a request; while another one is being answered, it waits for its turn. file:
  // came with it. connection: gets the answer.
  void asked(InstrumentsAsk ask, UniqueFd file, UniqueFd connection);
  // Readable when the request is answered, or modules_changed() done: the caller has to call
  // answered(). -1: there is none.
  int answered_fd() const { return is_busy_ ? answered_.get() : -1; }
  // Called when answered_fd() is readable: begins the next waiting request. Returns a message if
  // modules_changed() has ended: instruments with places in a new module are recorded from then on.
  // Empty: there is no message.
  std::string answered();
  // Called when a module has come or gone. If the tracepoints have changed, exchanges the
  // instruments for those on the present tracepoints; answered_fd() becomes readable when that is
  // done.
  void modules_changed();
  // Called before the recording's stop: nothing is changed any more, requests that wait are
  // refused.
  void end();
  // Called after end(). Waits for the request that is being answered.
  void join() { task_.wait(); }

 private:
  using Instruments = std::vector<Instrument>;
  struct Waiting {
    InstrumentsAsk ask;
    UniqueFd file;
    UniqueFd connection;
  };
  static constexpr std::size_t kMostWaiting = 16;

  void begin(Waiting request);
  Result<std::string> answer(InstrumentsAsk::Command command, int file);
  Result<InstrumentSetup> make(const Instruments& instruments, SymbolReader& symbols);
  Result<std::string> change(Instruments instruments);
  Status check_while_recording(const Instrument& instrument) const;
  Result<Instruments> with_added(const std::string& text) const;
  Result<Instruments> with_removed(const std::string& text) const;
  // The text of the instrument with this number in the list.
  Result<std::string> text_of(std::size_t number) const;
  Result<std::string> counts() const;
  Result<std::string> results() const;
  std::string texts() const;
  std::string tracepoints_there(const Instruments& instruments) const;
  void note_texts();

  Device& device_;
  const std::shared_ptr<Defined> defined_;
  const Rules rules_;
  Numbering numbering_;
  Definitions told_;       // lines that the head or an exchange has
  std::string undefined_;  // lines that no exchange has defined yet
  Instruments instruments_;
  std::optional<InstrumentSetup> setup_;
  std::string there_;         // tracepoints for which setup_ was made
  bool looks_again_ = false;  // modules have changed while it was busy
  std::string news_;
  mutable std::mutex texts_lock_;
  std::vector<std::string> texts_;  // of setup_->parts(); protected by texts_lock_
  UniqueFd answered_;
  bool is_busy_ = false;
  std::deque<Waiting> waiting_;
  std::atomic<bool> is_over_ = false;
  BackgroundTask task_;  // the last member: its function uses the others
};

}  // namespace fkt::record
