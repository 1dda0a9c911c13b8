// SPDX-License-Identifier: GPL-2.0-only
// Lent pages into files: written from where they are, or compressed in groups; several writes are
// under way at a time. What lies behind the first write that fails is not in the file.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/fkt_record/async_writer.h"
#include "cli/fkt_record/page_packer.h"
#include "cli/fkt_record/page_sink.h"
#include "cli/fkt_record/part_file.h"
#include "cli/fkt_record/signals.h"

namespace fkt::record {

// Where one file ends and the next one begins (rotation.h).
class PartSource {
 public:
  virtual ~PartSource() = default;
  // The file after `before`, with its head written.
  virtual Result<std::unique_ptr<PartFile>> next(const PartFile& before) = 0;
  // All pages of this one, which is not the last, are in it.
  virtual void finish(std::unique_ptr<PartFile> part) = 0;
  // This one, of which no page was written, is not wanted after all.
  virtual void drop(std::unique_ptr<PartFile> part) = 0;
};

struct FileSinkRules {
  PartRules part;
  std::optional<int> level;      // zstd's; nothing: pages are written as they are
  std::uint64_t ring_bytes = 0;  // all CPUs'
  AsyncWriter::Use use = AsyncWriter::Use::best;
};

class FileSink : public PageSink {
 public:
  // `output` is open; parts: nothing for one file alone. Both outlive the sink.
  static Result<std::unique_ptr<FileSink>> make(Output& output, const FileSinkRules& rules,
                                                PartSource* parts);

  // How the pages get there, for -v.
  std::string how() const;
  // The file that is written now.
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
  // A write, from when it has its place until all before it are done as well.
  struct Unit {
    std::uint64_t tag = 0;
    PartFile* part = nullptr;
    std::uint64_t offset = 0;
    std::vector<LentPage> pages;
    std::optional<GroupBuffer> group;
    std::vector<iovec> pieces;  // of what is not written yet
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
  Timer timer_;                                  // when pages have waited for company long enough
  std::deque<std::unique_ptr<PartFile>> parts_;  // not finished; the last one is written to
  std::deque<std::unique_ptr<Unit>> units_;      // in the order of their places
  std::vector<LentPage> waiting_;                // for the rest of their group
  std::uint64_t next_tag_ = 0;
  SinkStatus ended_;
  bool failed_ = false;  // a write did: what lies behind it is not in the file
  SinkCost cost_;
};

}  // namespace fkt::record
