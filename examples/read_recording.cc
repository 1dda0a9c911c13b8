// SPDX-License-Identifier: GPL-2.0-only
// read_recording FILE: prints every event of a recording in time order, then decodes each page
// separately.
#include <fkt/fkt.h>

#include <cstdio>

namespace {

// Prints time since the start of the recording in ticks, CPU, thread, id and name of the event.
void print(const fkt::Event& event, const fkt::RecordingInfo& info) {
  const auto time = static_cast<long long>(event.clock - fkt::recording_start(info));
  if (event.id == fkt::kGapBegins) return;  // printed at its end
  if (event.id == FKT_W_LOST) {
    std::printf("%lld %u lost %llu\n", time, event.cpu,
                static_cast<unsigned long long>(event.words[0]));
    return;
  }
  const fkt::EventType* type = info.catalogue.find(event.id);
  std::printf("%lld %u %u %04x %s\n", time, event.cpu, event.pid, event.id,
              type != nullptr ? type->name.c_str() : "?");
}

// Counts the events of one page. Pages can be decoded independently, also by several threads.
unsigned long long count_events(const fkt::Recording& recording, const fkt::PageRef& ref) {
  const fkt::Result<fkt::Page> page = recording.page(ref);
  if (!page) return 0;  // damaged
  fkt::PageDecoder decoder(recording.words(), *page);
  fkt::Event event;
  unsigned long long events = 0;
  for (;;) {
    const fkt::PageDecoder::Step step = decoder.next(event);
    if (step == fkt::PageDecoder::Step::event) events++;
    if (step == fkt::PageDecoder::Step::end || step == fkt::PageDecoder::Step::damaged) break;
  }
  return events;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: read_recording FILE\n");
    return 2;
  }
  const fkt::Result<fkt::Recording> recording = fkt::Recording::open(argv[1]);
  if (!recording) {
    std::fprintf(stderr, "read_recording: %s\n", recording.error().message.c_str());
    return 1;
  }
  for (const fkt::Event& event : recording->events()) print(event, recording->info());
  for (const fkt::PageRef& page : recording->pages()) {
    std::printf("page %llu of cpu %u: %llu events\n", static_cast<unsigned long long>(page.seq),
                page.cpu, count_events(*recording, page));
  }
  return 0;
}
