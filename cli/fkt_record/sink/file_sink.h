// SPDX-License-Identifier: GPL-2.0-only
// Writes lent pages to files, either directly from the ring's memory or compressed in groups, with
// several writes in flight. The first write that fails ends the file: nothing after it counts as
// written.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/fkt_record/output/part_file.h"
#include "cli/fkt_record/sink/async_writer.h"
#include "cli/fkt_record/sink/page_packer.h"
#include "cli/fkt_record/sink/page_sink.h"
#include "cli/fkt_record/wait/signals.h"

namespace fkt::record {

// Provides the next file when one is full (implemented by Rotation in rotation.h).
class PartSource {
 public:
  virtual ~PartSource() = default;
  // Opens the file that follows `before`, with its head written.
  virtual Result<std::unique_ptr<PartFile>> next(const PartFile& before) = 0;
  // Finishes a file that is not the last one; all its pages are written.
  virtual void finish(std::unique_ptr<PartFile> part) = 0;
  // Discards a file that was opened but has got no page.
  virtual void drop(std::unique_ptr<PartFile> part) = 0;
};

struct FileSinkRules {
  PartRules part;
  std::optional<int> level;      // zstd level; nothing: pages are written uncompressed
  std::uint64_t ring_bytes = 0;  // bytes of the rings of all CPUs
  AsyncWriter::Use use = AsyncWriter::Use::best;  // unit tests choose pwritev(2)
};

class FileSink : public PageSink {
 public:
  // parts: source of further files; null: there is only `output`, which is open. Both must outlive
  // the sink.
  static Result<std::unique_ptr<FileSink>> make(Output& output, const FileSinkRules& rules,
                                                PartSource* parts);

  // How the pages are written, for the line that -v prints.
  std::string how() const;
  // The file that is being written.
  const PartFile* part() const { return parts_.empty() ? nullptr : parts_.back().get(); }

  Status write_head(const std::string& head) override;
  std::size_t room() const override;
  SinkStatus put(std::span<const LentPage> pages) override;
  void end() override;
  void wait_for(std::vector<pollfd>& fds) const override;
  SinkStatus move(std::vector<std::uint32_t>& done) override;
  Status write_tail(const Sections& tail) override;
  std::vector<fkt_index_entry> index() const override { return parts_.back()->index(); }
  std::vector<fkt_group_entry> groups() const override { return parts_.back()->groups(); }
  SinkCost cost() const override;

 private:
  // One write, from the assignment of its offset until it and all writes before it have completed.
  struct Unit {
    std::uint64_t tag = 0;
    PartFile* part = nullptr;
    std::uint64_t offset = 0;
    std::vector<LentPage> pages;
    std::optional<GroupBuffer> group;
    std::vector<iovec> pieces;  // the part not yet written
    std::uint64_t bytes = 0, written = 0;
    bool finished = false;
    int error = 0;
  };

  FileSink(Output& output, const FileSinkRules& rules, PartSource* parts, AsyncWriter writer,
           std::unique_ptr<PagePacker> packer, Timer timer)
      : output_(&output),
        rules_(rules),
        source_(parts),
        writer_(std::move(writer)),
        packer_(std::move(packer)),
        timer_(std::move(timer)) {}

  void put_chunks(std::span<const LentPage> pages);
  void put_group();
  void place_groups(bool wait);
  void place(Unit unit);
  bool find_place(Unit& unit);
  bool next_part();
  void write(Unit& unit);
  void take_answers(bool wait);
  void answered(Unit& unit, std::int64_t result);
  void retire(std::vector<std::uint32_t>& done);
  void retire_unit(Unit& unit, std::vector<std::uint32_t>& done);
  void finish_parts();
  void settle(std::vector<std::uint32_t>& done);
  void ends(fkt_stop_reason reason, int error, std::string message = {});

  Output* output_;
  FileSinkRules rules_;
  PartSource* source_;
  AsyncWriter writer_;
  std::unique_ptr<PagePacker> packer_;
  Timer timer_;  // fires when an incomplete group has waited for more pages long enough
  // Files not finished yet; the last one is being written.
  std::deque<std::unique_ptr<PartFile>> parts_;
  std::deque<std::unique_ptr<Unit>> units_;  // in the order of their offsets
  std::vector<LentPage> waiting_;            // pages of the next group, until it is complete
  std::uint64_t next_tag_ = 0;
  SinkStatus ended_;
  bool failed_ = false;  // a write failed: nothing after it counts as written
  SinkCost cost_;
};

}  // namespace fkt::record
