// SPDX-License-Identifier: GPL-2.0-only
// The receiver's side of a connection under libFuzzer. The first byte chooses how the bytes are cut
// into pieces, and whether they follow a hello that is proven, which no fuzzer finds by trying.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>

#include "lib/remote/incoming.h"
#include "lib/remote/message.h"

namespace {

using namespace fkt;
using namespace fkt::remote;

// Believes nothing: what it is given must follow the rules.
class Rules : public Store {
 public:
  Begun begin(std::uint64_t recording, std::uint32_t page_bytes) override {
    assert(is_page_size(page_bytes));
    return {recording == 0 ? FKT_REMOTE_BUSY : FKT_REMOTE_GOING, bytes_, 0};
  }
  int write(ByteView bytes) override {
    assert(bytes.size() <= FKT_REMOTE_FRAME_MOST && !over_);
    bytes_ += bytes.size();
    return bytes_ > kRoom ? ENOSPC : 0;
  }
  int finish(std::uint64_t tail_offset) override {
    assert(!over_);
    over_ = true;
    return tail_offset > bytes_ ? EBADMSG : 0;
  }
  void abort() override {
    assert(!over_);
    over_ = true;
  }

 private:
  static constexpr std::uint64_t kRoom = 100'000;
  std::uint64_t bytes_ = 0;
  bool over_ = false;
};

std::string proven_hello(const Token& token, const Nonce& challenge) {
  fkt_remote_hello hello{FKT_REMOTE_MAGIC, FKT_REMOTE_VERSION, 1, 4096, 0, {}, {}};
  prove(token, challenge, hello);
  std::string text;
  append_message(text, hello);
  return text;
}

// A frame whose checksum is right: the fuzzer is to get behind it.
void mend_frames(std::string& bytes) {
  for (std::size_t at = 0; at + sizeof(fkt_remote_frame) <= bytes.size();) {
    fkt_remote_frame frame;
    std::memcpy(&frame, bytes.data() + at, sizeof frame);
    const ByteView all = std::as_bytes(std::span(bytes));
    const ByteView payload = subview(all, at + sizeof frame, frame.bytes);
    if (frame.magic != FKT_REMOTE_MAGIC || payload.size() != frame.bytes) return;
    frame.checksum = frame_checksum(frame, payload);
    std::memcpy(bytes.data() + at, &frame, sizeof frame);
    at += sizeof frame + frame.bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const Token token = std::move(*Token::of("0123456789abcdef", "fuzz"));
  static const Nonce challenge{};
  Rules store;
  Incoming incoming(token, challenge, store);
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 1) mend_frames(bytes);
  if (data[0] & 2) bytes = proven_hello(token, challenge) + bytes;
  const std::size_t step = (data[0] >> 2) == 0 ? bytes.size() + 1 : data[0] >> 2;
  bool goes_on = true;
  for (std::size_t at = 0; at < bytes.size() && goes_on; at += step) {
    const std::string_view piece = std::string_view(bytes).substr(at, step);
    goes_on = incoming.take(std::as_bytes(std::span(piece)));
    (void)incoming.take_answers();
    using Phase = Incoming::Phase;
    const Phase phase = incoming.phase();
    assert(goes_on == (phase <= Phase::done));
    assert(incoming.fault().empty() == (phase != Phase::failed && phase != Phase::dropped));
  }
  return 0;
}
