// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/recording.h"

#include <algorithm>

#include <fkt/file.h>

#include <fmt/core.h>

#include "lib/base/text.h"
#include "lib/format/file_header.h"
#include "lib/format/metadata_reader.h"
#include "lib/read/damage.h"
#include "lib/read/definition_events.h"
#include "lib/read/event_merge.h"
#include "lib/read/page_group_index.h"
#include "lib/read/page_index.h"
#include "lib/read/programs_file.h"
#include "lib/read/recording_data.h"

namespace fkt {
namespace {

constexpr std::size_t kMaxNotes = 100;

// Fills in a RecordingData from the parts of the file.
class Opener {
 public:
  Opener(RecordingData& data, const fkt_file_header& header)
      : data_(data), header_(header), file_(data.file.bytes()) {}

  void run() {
    data_.info.recording = header_.recording;
    data_.info.page_bytes = header_.page_bytes;
    data_.source.emplace(file_, header_.pages_offset, header_.page_bytes, header_.recording);
    read_head();
    if (file_.size() >= header_.pages_offset) read_pages();
    data_.source->remember(data_.pages.size());
    define();
    number_pages();
    find_checksums();
    count_losses();
    find_oldest();
    if (!rules_->calls.empty()) data_.rules = std::make_unique<SplitRules>(std::move(*rules_));
    if (!data_.integrity.finished) {
      data_.note(std::string(kUnfinished));
    }
  }

 private:
  void read_head() {
    const SectionList head =
        walk_sections(file_, header_.header_bytes, header_.pages_offset, closing_);
    add_faults(head);
    bool has_catalogue = false;
    for (const Section& section : head.sections) {
      has_catalogue |= add(section) && section.header.type == FKT_SEC_CATALOGUE;
    }
    if (!has_catalogue) {
      data_.note("the file's event catalogue is missing: this program's own is taken");
      data_.info.catalogue = Catalogue::builtin();
    }
    if (file_.size() < header_.pages_offset) {
      data_.integrity.truncated_bytes =
          file_.size() - std::min<std::uint64_t>(head.end, file_.size());
      data_.note("the file ends at " + hex(file_.size()) + ", before its first page at " +
                 hex(header_.pages_offset));
    } else if (head.cut_off > 0) {
      data_.note("section at offset " + hex(head.end) + ": it runs into the pages");
    }
  }

  void add_faults(const SectionList& list) {
    for (const std::string& fault : list.faults) data_.note(fault);
    sections_missing_ |= !list.faults.empty();
  }

  bool add(const Section& section) {
    const Status status = add_section(section, data_.info);
    if (!status) data_.note(status.error().message);
    sections_missing_ |= !status;
    return static_cast<bool>(status);
  }

  // Adds to the catalogue what was defined while it recorded: a whole tail has all of it, else the
  // events are read.
  void define() {
    if (!data_.integrity.finished || sections_missing_) {
      if (!is_scanned_) defining_ = defining_pages(*data_.source, data_.pages);
      read_definitions(data_.info, *data_.source, defining_);
    }
    Catalogue& catalogue = data_.info.catalogue;
    const std::size_t bad = catalogue.define(data_.info.definitions.lines());
    if (bad != 0) {
      data_.note("definition " + std::to_string(bad) + " of the recording makes no sense");
    }
    rules_.emplace(catalogue);
    data_.table = WordTable(catalogue);
  }

  // Reads the pages and the tail behind them.
  void read_pages() {
    PageArea area{file_, header_.pages_offset, file_.size(),
                  false, header_.page_bytes,   header_.recording};
    const std::uint64_t tail = header_.tail_offset;
    if (tail > file_.size()) {
      area.end_known = true;  // the rest of the file is pages
      data_.note("the file ends at " + hex(file_.size()) + ", before its tail at " + hex(tail));
    } else if (tail != 0 && (tail < header_.pages_offset || tail % 8 != 0)) {
      data_.note("the header's tail offset " + hex(tail) + " makes no sense");
    } else if (tail != 0) {
      area.end = tail;
      area.end_known = true;
      const Tables tables = read_tail(tail);
      if (grouped_) area = group_area(area, tables.groups);
      if (area.end - area.begin < area.page_bytes) return;  // without pages no index is needed
      if (tables.index && take_index(*tables.index, area)) return;
      data_.note("the index is missing or cannot be used: it was made again from the pages");
    }
    data_.integrity.index_rebuilt = true;
    if (grouped_ && data_.source->groups().empty()) area = group_area(area, {});
    scan(area);
  }

  // Returns the area of the groups' pages as it would be without compression.
  PageArea group_area(const PageArea& area, const std::optional<Section>& table) {
    std::vector<GroupRef> groups;
    Result<std::vector<GroupRef>> listed =
        table ? read_group_table(*table, area) : Error{ErrorCode::damaged, ""};
    if (listed) {
      groups = std::move(*listed);
    } else {
      if (table) data_.note(listed.error().message);
      FoundGroups found = scan_groups(area);
      for (std::string& fault : found.faults) data_.note(std::move(fault));
      ended(area, found.end, found.cut_off, "group");
      groups = std::move(found.groups);
    }
    data_.source.emplace(file_, area.begin, area.page_bytes, area.recording, std::move(groups));
    PageArea pages = area;
    pages.end = data_.source->groups_end();
    pages.end_known = true;
    return pages;
  }

  // The tail's sections that tell where pages are, if present.
  struct Tables {
    std::optional<Section> index, groups;
  };
  Tables read_tail(std::uint64_t offset) {
    const SectionList tail = walk_sections(file_, offset, file_.size(), closing_);
    add_faults(tail);
    Tables tables;
    if (!tail.sections.empty()) data_.tail_offset = offset;
    for (const Section& section : tail.sections) {
      const bool good = add(section);
      if (section.header.type == FKT_SEC_INDEX) tables.index = section;
      if (section.header.type == FKT_SEC_GROUPS) tables.groups = section;
      if (section.header.type == FKT_SEC_TOTALS && good) data_.integrity.finished = true;
    }
    // Two recordings that were appended to one file; behind the tail, a disk may have anything
    // else.
    const ByteView behind = subview(file_, tail.end, sizeof(fkt_file_header));
    if (behind.size() == sizeof(fkt_file_header) && check_file_magic(behind)) {
      data_.note("another recording follows at " + hex(tail.end) + ", which is not read");
    }
    if (tail.cut_off > 0) {
      data_.integrity.truncated_bytes = tail.cut_off;
      data_.note("the file ends within its tail, in the section at offset " + hex(tail.end));
    }
    return tables;
  }

  bool take_index(const Section& index, const PageArea& area) {
    Result<std::vector<PageRef>> pages = read_index(index, area);
    if (!pages) {
      data_.note(pages.error().message);
      return false;
    }
    data_.pages = std::move(*pages);
    return true;
  }

  void scan(const PageArea& area) {
    FoundPages found = scan_pages(area, *data_.source);
    data_.pages = std::move(found.pages);
    data_.integrity.joined = found.is_joined;
    data_.integrity.damaged_pages = found.damaged;
    defining_ = std::move(found.defining);
    is_scanned_ = true;
    for (std::string& fault : found.faults) data_.note(std::move(fault));
    if (!grouped_) ended(area, found.end, found.cut_off, "page");
  }

  // The page area ends at `end`, followed by `cut_off` bytes of an incomplete page or group.
  void ended(const PageArea& area, std::uint64_t end, std::uint64_t cut_off, const char* within) {
    if (area.end_known && header_.tail_offset <= file_.size()) return;
    // A file that was written as a stream has its tail directly behind its last page: it is
    // complete.
    if (header_.tail_offset == 0 && section_begins(file_, end)) {
      read_tail(end);
      if (data_.integrity.finished) data_.integrity.index_rebuilt = false;
    }
    if (cut_off > 0) {
      data_.integrity.truncated_bytes = cut_off;
      data_.note(std::string("the file ends within a ") + within + ": its last " +
                 counted(cut_off, "byte") + " cannot be read");
    }
  }

  // In a slice: returns the last stretch that the page reaches into.
  std::size_t stretch_of(const PageRef& page) const {
    std::size_t stretch = 0;
    while (stretch < data_.info.further.size() &&
           data_.info.further[stretch].from <= page.end_clock) {
      stretch++;
    }
    return stretch;
  }

  // Sorts the pages by CPU and looks for holes in their sequence numbers.
  void number_pages() {
    std::uint64_t missing = 0;
    for (std::uint32_t i = 0; i < data_.pages.size(); ++i) {
      const PageRef& page = data_.pages[i];
      std::vector<std::uint32_t>& of_cpu = data_.by_cpu[page.cpu];
      if (!of_cpu.empty() && stretch_of(page) == stretch_of(data_.pages[of_cpu.back()])) {
        const std::uint64_t hole = page.seq - data_.pages[of_cpu.back()].seq - 1;
        if (hole > 0) {
          missing += hole;
          data_.note(fmt::format("cpu {}: {} missing before the one at offset {:#x}", page.cpu,
                                 counted(hole, "page"), page.offset));
        }
      }
      of_cpu.push_back(i);
    }
    // A damaged page whose CPU is not known leaves a hole as well: do not count it twice.
    missing -= std::min(missing, data_.integrity.damaged_pages);
    data_.integrity.missing_pages = missing;
  }

  // All pages of a recording have one version: looks at the first readable one.
  void find_checksums() {
    for (const PageRef& ref : data_.pages) {
      const Result<Page> page = data_.source->page_header(ref.offset);
      if (!page) continue;
      data_.integrity.checksums = page->header.version != FKT_WIRE_VERSION_UNCHECKED;
      return;
    }
  }

  void find_oldest() {
    const std::optional<Totals>& totals = data_.info.totals;
    if (totals && totals->start_clock > data_.info.clocks.start.clock) {
      data_.info.oldest = totals->start_clock;
    }
    const bool overwritten = totals && totals->overwritten > 0;
    if (data_.pages.empty() || (!overwritten && !data_.info.part)) return;
    const auto older = [](const PageRef& x, const PageRef& y) {
      return x.first_clock < y.first_clock;
    };
    data_.info.oldest =
        std::min_element(data_.pages.begin(), data_.pages.end(), older)->first_clock;
  }

  void count_losses() {
    if (const std::optional<Checkpoint>& checkpoint = data_.info.checkpoint) {
      for (const Checkpoint::Cpu& cpu : checkpoint->cpus)
        data_.lost_before(cpu.cpu, cpu.lost.value_or(0));
    } else if (data_.info.part) {
      for (const auto& [cpu, lost] : data_.info.part->lost) data_.lost_before(cpu, lost);
    }
    if (data_.info.totals) {
      data_.integrity.lost = data_.info.totals->lost;
      for (const CpuTotals& cpu : data_.info.totals->per_cpu) {
        data_.set_lost(cpu.cpu, cpu.lost + data_.info.lost_before(cpu.cpu).value_or(0));
      }
      return;
    }
    // Each CPU's last page has the highest count. Later losses show up when events are decoded.
    for (const auto& [cpu, pages] : data_.by_cpu) {
      const Result<Page> page = data_.source->page_header(data_.pages[pages.back()].offset);
      if (page) data_.set_lost(cpu, page->header.lost);
    }
  }

  RecordingData& data_;
  const fkt_file_header& header_;
  ByteView file_;
  std::optional<SplitRules> rules_;
  bool is_scanned_ = false;
  std::vector<std::uint64_t> defining_;  // if is_scanned_: offsets of pages with definitions
  bool sections_missing_ = false;        // a section, perhaps one with definitions, cannot be read
  const bool grouped_ = fkt_file_has_groups(header_.version);
  const Closing closing_ =
      header_.version >= FKT_FILE_VERSION_CHECKED ? Closing::expected : Closing::none;
};

Result<std::unique_ptr<RecordingData>> read(MappedFile file) {
  const auto header = FKT_TRY(read_file_header(file.bytes()));
  auto data = std::make_unique<RecordingData>(std::move(file));
  Opener(*data, header).run();
  return data;
}

Error about(const std::string& name, const Error& error) {
  return {error.code, name + ": " + error.message};
}

}  // namespace

std::optional<std::uint64_t> RecordingInfo::lost_before(std::uint32_t cpu) const {
  if (checkpoint) {
    const Checkpoint::Cpu* known = checkpoint->find(cpu);
    return known ? known->lost : std::nullopt;
  }
  if (!part) return {};
  const auto known = part->lost.find(cpu);
  return known == part->lost.end() ? 0 : known->second;
}

void RecordingData::note(std::string line) {
  if (integrity.notes.size() < kMaxNotes) {
    integrity.notes.push_back(std::move(line));
  } else if (integrity.notes.size() == kMaxNotes) {
    integrity.notes.push_back("further findings are not listed");
  }
}

void RecordingData::damaged_page(std::uint64_t offset, const Error& error) {
  if (!damaged_offsets_.insert(offset).second) return;
  ++integrity.damaged_pages;
  if (integrity.notes.size() <= kMaxNotes && damage_noted_.insert(error.message).second) {
    note(error.message);
  }
}

void RecordingData::passed(std::uint64_t offset) const {
  // Streams of other CPUs may be so far behind.
  constexpr std::uint64_t kKept = 64 << 20, kStep = 16 << 20;
  // Offsets in groups are not those of the file.
  if (!source->groups().empty()) return;
  std::uint64_t from = forgotten_.load(std::memory_order_relaxed);
  if (offset < from + kKept + kStep) return;
  const std::uint64_t to = offset - kKept;
  // One thread does it. Nothing else depends on the number: whatever is read again is there again.
  if (forgotten_.compare_exchange_strong(from, to, std::memory_order_relaxed))
    file.forget(from, to);
}

void RecordingData::forget() const {
  file.forget(0, file.bytes().size());
  forgotten_ = 0;
}

void RecordingData::set_lost(std::uint32_t cpu, std::uint64_t total) {
  // The sums include what was lost between a slice's stretches, which is not part of the slice.
  if (!info.further.empty()) return;
  std::uint64_t& known = lost_[cpu];
  if (total <= known) return;
  lost_sum_ += total - known;
  known = total;
  integrity.lost = std::max(integrity.lost, lost_sum_);
}

Recording::Recording(std::unique_ptr<RecordingData> data) : data_(std::move(data)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Result<Recording> Recording::from_file(MappedFile file, const std::string& name) {
  Result<Recording> recording = opened(std::move(file), name);
  if (recording) recording->split();
  return recording;
}

Result<Recording> Recording::opened(MappedFile file, const std::string& name) {
  Result<std::unique_ptr<RecordingData>> data = read(std::move(file));
  if (!data) return about(name, data.error());
  return Recording(std::move(*data));
}

void Recording::split() {
  if (!data_->rules || data_->split) return;
  data_->split = std::make_unique<SplitPages>(*data_->rules, *data_);
}

Result<Recording> Recording::open(const std::string& path) {
  Result<Recording> recording = open_unsplit(path);
  if (recording) recording->split();
  return recording;
}

Result<Recording> Recording::open_unsplit(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path, check_file_magic);
  if (!file) return about(input_name(path), file.error());
  Result<Recording> recording = opened(std::move(*file), input_name(path));
  if (recording && !recording->integrity().finished && !recording->integrity().joined &&
      has_programs_file(path, recording->info().recording)) {
    recording->data_->note("the events of its programs are in " + programs_file(path));
  }
  return recording;
}

Result<Recording> Recording::from_bytes(std::span<const std::byte> bytes, const std::string& name) {
  return from_file(MappedFile::copy(bytes), name);
}

const RecordingInfo& Recording::info() const {
  return data_->info;
}
const std::vector<PageRef>& Recording::pages() const {
  return data_->pages;
}
std::uint64_t Recording::tail_offset() const {
  return data_->tail_offset;
}
const Integrity& Recording::integrity() const {
  return data_->integrity;
}
void Recording::passed(const PageRef& ref) const {
  data_->passed(ref.offset);
}
void Recording::forget() const {
  data_->forget();
}
Result<PageBytes> Recording::page_bytes(const PageRef& ref) const {
  return data_->source->bytes(ref.offset);
}
std::span<const std::byte> Recording::file() const {
  return data_->file.bytes();
}
Result<Page> Recording::page(const PageRef& ref) const {
  const auto number = static_cast<std::uint32_t>(&ref - data_->pages.data());
  return data_->in_its_place(number, data_->page(number));
}
Result<Page> RecordingData::in_its_place(std::uint32_t number, Result<Page> page) const {
  const PageRef& ref = pages[number];
  if (page && (page->header.cpu != ref.cpu || page->header.seq != ref.seq)) {
    return Error{ErrorCode::damaged,
                 "page at offset " + hex(ref.offset) + ": the index takes it for another page"};
  }
  return page;
}
bool Recording::splits_pages() const {
  return data_->rules != nullptr;
}
LaterCalls Recording::later_calls(std::span<const std::uint32_t> pages) const {
  return data_->split ? data_->split->later_calls(pages) : LaterCalls();
}
bool Recording::exchanges_ends(std::uint32_t page) const {
  return data_->split && data_->split->exchanges_ends(page);
}
void Recording::note_damage(const PageRef& ref, const Error& error) const {
  data_->damaged_page(ref.offset, error);
}
const WordTable& Recording::words() const {
  return data_->table;
}
EventRange Recording::events(const ReadRange& range) const {
  return {*data_, range};
}

std::uint64_t events_of(const Recording& recording) {
  std::uint64_t events = 0;
  for (const PageRef& page : recording.pages()) events += page.events;
  return events;
}

}  // namespace fkt
