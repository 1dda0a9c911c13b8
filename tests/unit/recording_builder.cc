// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/recording_builder.h"

#include <algorithm>
#include <fstream>

#include "lib/base/crc32.h"
#include "lib/format/page_group.h"
#include "lib/format/sections.h"

namespace fkt::test {

RecordingBuilder::RecordingBuilder(std::uint32_t page_bytes) : page_bytes_(page_bytes) {
  sections_[FKT_SEC_MACHINE] =
      R"({"sysname":"Linux","nodename":"test","release":"6.1.0","version":"#1","machine":"x86_64",)"
      R"("cpus":4,"cpu_model":"synthetic","tool_version":"test"})";
  sections_[FKT_SEC_COMMAND] =
      R"({"recorder_pid":10,"workload_pid":42,"command":["work"],"mask":1025,"args":false,)"
      R"("filter":"none","filter_pid":0})";
  sections_[FKT_SEC_CLOCKS] =
      R"({"source":"mono","khz":1000000,"zone":0,"start":)" + clock_pair(kStart) + "}";
  sections_[FKT_SEC_TASKS] = "1\t1\t0\tinit\n10\t10\t1\tfkt_record\n42\t42\t10\twork\n";
  sections_[FKT_SEC_INTERRUPTS] = "14\tata_piix\t7\nNMI\tNon-maskable interrupts\t0\n";
  sections_[FKT_SEC_CATALOGUE] = Catalogue::builtin().to_lines();
  sections_[FKT_SEC_SYSCALLS] = "64\t0\tread\n64\t1\twrite\n64\t39\tgetpid\n64\t60\texit\n";
}

RecordingBuilder& RecordingBuilder::section(std::uint32_t type, std::string text) {
  sections_[type] = std::move(text);
  return *this;
}

RecordingBuilder& RecordingBuilder::packed_section(std::uint32_t type, std::string frame,
                                                   std::uint64_t raw_bytes) {
  packed_[type] = raw_bytes;
  return section(type, std::move(frame));
}

RecordingBuilder& RecordingBuilder::event(std::uint32_t cpu, std::uint64_t clock, std::uint32_t id,
                                          std::uint32_t arg,
                                          std::initializer_list<std::uint64_t> words) {
  append(cpu, clock, id, arg, {words.begin(), words.size()}, true);
  if (id >= FKT_E_SWITCH_R && id <= (FKT_E_SWITCH_R | 0xf)) cpus_[cpu].pid = arg & FKT_PID_MASK;
  return *this;
}

RecordingBuilder& RecordingBuilder::long_event(std::uint32_t cpu, std::uint64_t clock,
                                               std::uint32_t id, std::uint32_t arg,
                                               std::span<const std::uint64_t> words) {
  append(cpu, clock, id, arg, words, true);
  return *this;
}

RecordingBuilder& RecordingBuilder::define(std::uint32_t cpu, std::uint64_t clock,
                                           std::string_view lines) {
  std::vector<std::uint64_t> words((lines.size() + 7) / 8);
  std::memcpy(words.data(), lines.data(), lines.size());
  append(cpu, clock, FKT_E_DEFINE, static_cast<std::uint32_t>(words.size()), words, true);
  return *this;
}

RecordingBuilder& RecordingBuilder::pid(std::uint32_t cpu, std::uint32_t pid) {
  Cpu& c = cpus_[cpu];
  c.pid = pid;
  if (!c.page.empty()) append(cpu, c.clock, FKT_W_PID, pid, {}, false);
  return *this;
}

RecordingBuilder& RecordingBuilder::lost(std::uint32_t cpu, std::uint64_t from, std::uint64_t clock,
                                         std::uint64_t count) {
  close_page(cpu);
  cpus_[cpu].lost += count;
  const std::uint64_t words[] = {cpus_[cpu].lost, from};
  append(cpu, clock, FKT_W_LOST, 0, words, false);
  return *this;
}

RecordingBuilder& RecordingBuilder::close_page(std::uint32_t cpu) {
  Cpu& c = cpus_[cpu];
  if (c.page.empty()) return *this;
  auto header = get<fkt_page_header>(c.page, 0);
  header.used = static_cast<std::uint32_t>(c.page.size());
  header.events = c.events;
  header.end_clock = c.end;
  put(c.page, 0, header);
  c.page.resize(page_bytes_, std::byte{0xee});  // padding is not zeroed
  sign_page(c.page, 0);
  index_.push_back({header.first_clock, header.end_clock, header.seq, cpu, c.events});
  pages_.insert(pages_.end(), c.page.begin(), c.page.end());
  c.total += c.events;
  c.page.clear();
  return *this;
}

RecordingBuilder& RecordingBuilder::skip_pages(std::uint32_t cpu, std::uint64_t count) {
  close_page(cpu);
  cpus_[cpu].seq += count;
  return *this;
}

Bytes RecordingBuilder::finish(Tail tail) {
  for (auto& [cpu, state] : cpus_) close_page(cpu);
  Bytes file(sizeof(fkt_file_header));
  for (const auto& [type, text] : sections_) {
    if (type < FKT_SEC_TOTALS && !text.empty()) append_section(file, type, text);
  }
  append_section(file, FKT_SEC_END, "");
  file.resize((file.size() + FKT_FILE_ALIGN - 1) / FKT_FILE_ALIGN * FKT_FILE_ALIGN);
  pages_offset_ = file.size();
  if (group_pages_ == 0) {
    file.insert(file.end(), pages_.begin(), pages_.end());
  } else {
    append_groups(file);
  }

  fkt_file_header header{};
  std::memcpy(header.magic, FKT_FILE_MAGIC, sizeof header.magic);
  header.version = group_pages_ ? FKT_FILE_VERSION_GROUPS : FKT_FILE_VERSION_PAGES;
  header.header_bytes = sizeof header;
  header.recording = kRecording;
  header.pages_offset = pages_offset_;
  header.page_bytes = page_bytes_;
  if (tail != Tail::none) {
    tail_offset_ = file.size();
    append_tail(file);
  }
  put(file, 0, header);
  header.checksum = crc32(std::span(file).first(offsetof(fkt_file_header, checksum)));
  if (tail == Tail::finished) header.tail_offset = tail_offset_;
  put(file, 0, header);
  return file;
}

RecordingBuilder& RecordingBuilder::in_groups(std::size_t pages) {
  group_pages_ = pages;
  return *this;
}

void RecordingBuilder::write(const std::string& path, Tail tail) {
  const Bytes file = finish(tail);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

void RecordingBuilder::sign_page(Bytes& bytes, std::uint64_t offset) {
  auto header = get<fkt_page_header>(bytes, offset);
  const std::uint64_t most = bytes.size() - offset;
  if (header.header_bytes <= header.used && header.used <= most) {
    header.events_checksum =
        fkt_events_checksum(&header, bytes.data() + offset + header.header_bytes);
  }
  header.checksum = fkt_page_checksum(&header);
  put(bytes, offset, header);
}

std::string RecordingBuilder::clock_pair(std::uint64_t clock) {
  const std::uint64_t ns = clock - kStart;
  return R"({"clock":)" + std::to_string(clock) + R"(,"mono_raw_ns":)" + std::to_string(ns) +
         R"(,"mono_ns":)" + std::to_string(ns) + R"(,"real_ns":)" +
         std::to_string(kStartReal + ns) + "}";
}

void RecordingBuilder::append(std::uint32_t cpu, std::uint64_t clock, std::uint32_t id,
                              std::uint32_t arg, std::span<const std::uint64_t> words,
                              bool is_event) {
  Cpu& c = cpus_[cpu];
  assert(clock >= c.clock);
  const bool time = clock - c.clock >= 1ULL << FKT_TIME_BITS;
  const std::size_t need = 8 * (1 + words.size() + time);
  if (!c.page.empty() && c.page.size() + need > page_bytes_) close_page(cpu);
  if (c.page.empty()) {
    fkt_page_header header{};
    header.magic = FKT_PAGE_MAGIC;
    header.magic_inverse = ~FKT_PAGE_MAGIC;
    header.version = FKT_WIRE_VERSION;
    header.header_bytes = FKT_PAGE_HEADER_BYTES;
    header.page_bytes = page_bytes_;
    header.recording = kRecording;
    header.seq = c.seq++;
    header.cpu = cpu;
    header.first_clock = clock;
    header.lost = c.lost;
    header.pid = c.pid;
    c.page.resize(sizeof header);
    put(c.page, 0, header);
    c.events = 0;
  } else if (time) {
    append_word(c.page,
                fkt_word(clock, FKT_W_TIME, static_cast<std::uint32_t>(clock >> FKT_TIME_BITS)));
  }
  if (id == FKT_E_DEFINE) {
    auto header = get<fkt_page_header>(c.page, 0);
    header.flags |= FKT_PAGE_DEFINES;
    put(c.page, 0, header);
  }
  append_word(c.page, fkt_word(clock, id, arg));
  for (const std::uint64_t word : words) append_word(c.page, word);
  const bool pair = is_event && is_joined_pair(id, arg);
  c.clock = clock;
  c.end = clock + (pair ? fkt_pair_ticks(arg) : 0);
  if (is_event) c.events += pair ? 2 : 1;
}

void RecordingBuilder::append_word(Bytes& page, std::uint64_t word) {
  page.resize(page.size() + sizeof word);
  put(page, page.size() - sizeof word, word);
}

void RecordingBuilder::append_section(Bytes& file, std::uint32_t type,
                                      std::string_view text) const {
  const auto payload = std::as_bytes(std::span(text));
  const auto packed = packed_.find(type);
  const bool is_packed = packed != packed_.end();
  const std::uint32_t flags = FKT_SECTION_CHECKED | (is_packed ? FKT_SECTION_ZSTD : 0);
  const std::uint64_t raw_bytes = is_packed ? packed->second : text.size();
  fkt_section_header header{FKT_SECTION_MAGIC, type, flags, 0, text.size(), raw_bytes};
  header.checksum = section_checksum(header, payload);
  const std::size_t at = file.size();
  file.resize(at + sizeof header);
  put(file, at, header);
  file.insert(file.end(), payload.begin(), payload.end());
  file.resize((file.size() + 7) / 8 * 8);
}

void RecordingBuilder::append_groups(Bytes& file) {
  GroupPacker packer = std::move(*GroupPacker::make(kDefaultGroupLevel));
  groups_.clear();
  for (std::size_t first = 0; first < index_.size(); first += group_pages_) {
    std::vector<ByteView> pages;
    for (std::size_t i = first; i < std::min(first + group_pages_, index_.size()); i++) {
      pages.push_back(std::span(pages_).subspan(i * page_bytes_, page_bytes_));
    }
    Bytes group(group_bound(pages.size() * page_bytes_));
    group.resize(*packer.pack({kRecording, first}, pages, group));
    const auto header = get<fkt_group_header>(group, 0);
    groups_.push_back({file.size(), first, header.pages, header.stored_bytes});
    file.insert(file.end(), group.begin(), group.end());
  }
  sections_[FKT_SEC_GROUPS].assign(reinterpret_cast<const char*>(groups_.data()),
                                   groups_.size() * sizeof(fkt_group_entry));
}

void RecordingBuilder::append_tail(Bytes& file) {
  std::uint64_t events = 0, lost = 0, end = kStart;
  std::string per_cpu;
  for (const auto& [cpu, state] : cpus_) {
    events += state.total;
    lost += state.lost;
    end = std::max(end, state.end);
    per_cpu += (per_cpu.empty() ? "" : ",") + std::string(R"({"cpu":)") + std::to_string(cpu) +
               R"(,"events":)" + std::to_string(state.total) + R"(,"lost":)" +
               std::to_string(state.lost) + R"(,"discarded":0,"pages":)" +
               std::to_string(state.seq) + R"(,"gap_from":0,"gap_lost":0})";
  }
  if (!sections_.contains(FKT_SEC_TOTALS)) {
    sections_[FKT_SEC_TOTALS] =
        R"({"start_clock":)" + std::to_string(kStart) + R"(,"stop_clock":)" + std::to_string(end) +
        R"(,"events":)" + std::to_string(events) + R"(,"lost":)" + std::to_string(lost) +
        R"(,"discarded":0,"pages":)" + std::to_string(index_.size()) + R"(,"bytes":)" +
        std::to_string(pages_.size()) +
        R"(,"stop_reason":"asked","error":0,"drain_ns":0,"workload_status":0,"end":)" +
        clock_pair(end) + R"(,"per_cpu":[)" + per_cpu + "]}";
  }
  if (!sections_.contains(FKT_SEC_INDEX)) {
    sections_[FKT_SEC_INDEX].assign(reinterpret_cast<const char*>(index_.data()),
                                    index_.size() * sizeof(fkt_index_entry));
  }
  for (const auto& [type, text] : sections_) {
    if (type >= FKT_SEC_TOTALS && !text.empty()) append_section(file, type, text);
  }
  append_section(file, FKT_SEC_END, "");
}

}  // namespace fkt::test
