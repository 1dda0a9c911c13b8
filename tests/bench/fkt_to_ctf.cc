// SPDX-License-Identifier: GPL-2.0-only
// fkt_to_ctf FILE DIR: writes the events of a recording as a CTF 1.8 trace in the layout of LTTng's
// kernel tracer (a stream per CPU, packets, large event headers), so that readers of both formats
// can be compared on the same events.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "lib/read/fkt.h"

namespace {

constexpr std::size_t kPacketBytes = 256 << 10;
constexpr char kUuid[16] = {'F', 'K', 'T', ' ', 't', 'o', ' ', 'C', 'T', 'F', ' ', '1', '.', '8'};
constexpr const char* kUuidText = "464b5420-746f-2043-5446-20312e380000";

struct __attribute__((packed)) PacketHead {
  std::uint32_t magic = 0xc1fc1fc1;
  char uuid[16];
  std::uint32_t stream_id = 0;
  std::uint64_t timestamp_begin = 0, timestamp_end = 0;
  std::uint64_t content_size = 0, packet_size = kPacketBytes * 8;  // bits
  std::uint64_t packet_seq_num = 0, events_discarded = 0;
  std::uint32_t cpu_id = 0;
};

class Stream {
 public:
  Stream(const std::string& path, std::uint32_t cpu) : out_(path, std::ios::binary) {
    head_.cpu_id = cpu;
    std::memcpy(head_.uuid, kUuid, sizeof kUuid);
  }

  void event(const fkt::Event& event) {
    const std::size_t need = 2 + 4 + 4 + 4 + event.words.size_bytes();
    if (!packet_.empty() && packet_.size() + need > kPacketBytes) close();
    if (packet_.empty()) {
      packet_.resize(sizeof head_);
      head_.timestamp_begin = event.clock;
    }
    head_.timestamp_end = event.clock;
    put(event.id);
    put(static_cast<std::uint32_t>(event.clock));
    put(event.pid);
    put(event.arg);
    for (const std::uint64_t word : event.words) put(word);
  }

  bool close() {
    if (packet_.empty()) return static_cast<bool>(out_);
    head_.content_size = packet_.size() * 8;
    std::memcpy(packet_.data(), &head_, sizeof head_);
    packet_.resize(kPacketBytes);
    out_.write(packet_.data(), static_cast<std::streamsize>(packet_.size()));
    packet_.clear();
    head_.packet_seq_num++;
    return static_cast<bool>(out_);
  }

 private:
  template <class T>
  void put(T value) {
    const std::size_t at = packet_.size();
    packet_.resize(at + sizeof value);
    std::memcpy(packet_.data() + at, &value, sizeof value);
  }
  std::ofstream out_;
  PacketHead head_;
  std::vector<char> packet_;
};

// Makes the CTF metadata: one CTF event for each event type of the catalogue with a fixed number of
// words.
std::string metadata(const fkt::Catalogue& catalogue) {
  std::string text = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; uuid = ")" +
                     std::string(kUuidText) + R"("; byte_order = le;
  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }; };
env { hostname = "synthetic"; domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2;
  tracer_minor = 13; };
clock { name = "monotonic"; freq = 1000000000; offset = 0; };
typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } := uint32_clock_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_t;
struct event_header_large { enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;
  variant <id> { struct { uint32_clock_t timestamp; } compact;
    struct { uint32_t id; uint64_clock_t timestamp; } extended; } v; } align(8);
stream { id = 0; event.header := struct event_header_large;
  packet.context := struct { uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end;
    uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;
    uint64_t events_discarded; uint32_t cpu_id; };
  event.context := struct { uint32_t tid; }; };
)";
  for (const fkt::EventType& type : catalogue.events()) {
    if (!type.words) continue;
    text += "event { name = \"" + type.name + "\"; id = " + std::to_string(type.id) +
            "; stream_id = 0; fields := struct { uint32_t arg;";
    for (unsigned word = 1; word <= *type.words; word++) {
      text += " uint64_t word" + std::to_string(word) + ';';
    }
    text += " }; };\n";
  }
  return text;
}

int convert(const std::string& file, const std::filesystem::path& directory) {
  const fkt::Result<fkt::Recording> trace = fkt::Recording::open(file);
  if (!trace) {
    std::fprintf(stderr, "fkt_to_ctf: %s\n", trace.error().message.c_str());
    return 1;
  }
  std::filesystem::create_directories(directory);
  const fkt::Catalogue& catalogue = trace->info().catalogue;
  std::ofstream(directory / "metadata") << metadata(catalogue);
  std::map<std::uint32_t, Stream> streams;
  unsigned long long events = 0;
  for (const fkt::Event& event : trace->events()) {
    const fkt::EventType* type = catalogue.find(event.id);
    if (type == nullptr || !type->words) continue;
    auto found = streams.find(event.cpu);
    if (found == streams.end()) {
      const std::string name = "channel0_" + std::to_string(event.cpu);
      found = streams.try_emplace(event.cpu, directory / name, event.cpu).first;
    }
    found->second.event(event);
    events++;
  }
  for (auto& [cpu, stream] : streams) {
    if (stream.close()) continue;
    std::fprintf(stderr, "fkt_to_ctf: %s: cannot be written\n", directory.c_str());
    return 1;
  }
  std::printf("%llu\n", events);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fkt_to_ctf FILE DIR\n");
    return 2;
  }
  return convert(argv[1], argv[2]);
}
