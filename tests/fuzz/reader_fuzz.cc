// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: whatever the bytes are, the reader opens them or says why not, and walks what
// it found without reading outside of them. tests/fuzz/run builds and runs it.
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fkt/file.h>

#include "lib/clock.h"
#include "lib/crc32.h"
#include "lib/cursor.h"
#include "lib/merge.h"
#include "lib/trace.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

// The result is not used, but the work must be done.
void keep(std::uint64_t value) {
  asm volatile("" : : "r"(value));
}

// What every tool does with an event: all its fields, by the file's catalogue.
void read_fields(const fkt::TraceInfo& info, const fkt::Event& event) {
  const fkt::EventType* type = info.catalogue.find(event.id);
  if (!type) return;
  for (const fkt::Field& field : type->fields) {
    if (field.type == fkt::FieldType::str) {
      keep(fkt::EventType::text(field, event).size());
    } else if (const auto value = fkt::EventType::value(field, event)) {
      keep(*value);
      if (field.type == fkt::FieldType::addr) keep(info.symbols.name(*value).size());
    }
  }
}

void expect(bool condition) {
  if (!condition) std::abort();
}

// Walks a selection; returns the number of events. Time must not go back, whatever the file says.
std::uint64_t walk(const fkt::Trace& trace, const fkt::Selection& selection) {
  std::uint64_t last = 0, events = 0;
  for (const fkt::Event& event : trace.events(selection)) {
    expect(event.clock >= last);
    expect(!selection.from || event.clock >= *selection.from);
    expect(!selection.to || event.clock < *selection.to);
    last = event.clock;
    events += event.id != FKT_W_LOST;
    expect(event.id != FKT_W_LOST || (event.words.size() == 2 && event.words[1] <= event.clock));
    read_fields(trace.info(), event);
  }
  expect(trace.integrity().events == events);
  return events;
}

template <class T>
bool copy_out(const std::vector<std::uint8_t>& bytes, std::size_t offset, T& out) {
  return fkt::read_at(std::as_bytes(std::span(bytes)), offset, out);
}

template <class T>
void copy_in(std::vector<std::uint8_t>& bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// Makes the checksums right again, so that mutations get past them.
void sign(std::vector<std::uint8_t>& bytes) {
  const auto view = std::as_bytes(std::span(bytes));
  fkt_file_header header;
  if (!copy_out(bytes, 0, header)) return;
  fkt_file_header unsigned_header = header;
  unsigned_header.tail_offset = 0;
  header.checksum = fkt::crc32(
      std::as_bytes(std::span(&unsigned_header, 1)).first(offsetof(fkt_file_header, checksum)));
  copy_in(bytes, 0, header);
  // Pages begin at multiples of 4 KiB, sections at multiples of 8.
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    fkt_page_header page;
    fkt_section_header section;
    if (at % FKT_FILE_ALIGN == 0 && copy_out(bytes, at, page) && page.magic == FKT_PAGE_MAGIC) {
      page.magic_inverse = ~page.magic;
      page.recording = header.recording;
      page.checksum = fkt_page_checksum(&page);
      copy_in(bytes, at, page);
    } else if (copy_out(bytes, at, section) && section.magic == FKT_SECTION_MAGIC) {
      section.checksum = fkt::crc32(fkt::slice(view, at + sizeof section, section.stored_bytes));
      copy_in(bytes, at, section);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fkt::Result<fkt::Trace> trace =
      fkt::Trace::from_bytes(std::as_bytes(std::span(data, size)));
  if (!trace) {
    keep(trace.error().message.size());
    return 0;
  }
  const std::uint64_t all = walk(*trace, {});
  if (trace->pages().empty()) return 0;

  const fkt::PageRef& middle = trace->pages()[trace->pages().size() / 2];
  const fkt::Clocks& clocks = trace->info().clocks;
  keep(clocks.real_ns(middle.first_clock) + fkt::ticks_to_ns(clocks, middle.end_clock));
  if (const auto noon = fkt::parse_time("12:00:00.5", clocks, middle.end_clock)) keep(*noon);
  expect(walk(*trace, {.from = middle.first_clock, .to = {}, .cpu = {}}) <= all);
  expect(walk(*trace, {.from = {}, .to = middle.end_clock, .cpu = middle.cpu}) <= all);
  return 0;
}

// libFuzzer's own mutation, three times in four with the checksums put right afterwards.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 4 == 0) return size;
  std::vector<std::uint8_t> bytes(data, data + size);
  sign(bytes);
  std::memcpy(data, bytes.data(), size);
  return size;
}
