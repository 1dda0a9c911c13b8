// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/recorded_field.h"

#include <fkt/call_hit.h>
#include <fkt/ioctl.h>

#include <algorithm>

namespace fkt {
namespace {

constexpr std::uint16_t kKeyBytes = FKT_HISTOGRAM_KEY_WORDS * 8;

}  // namespace

std::uint16_t text_bytes(const Fetch& fetch) {
  if (fetch.text_bytes == 0) return kTextBytes;
  const std::uint32_t whole = (fetch.text_bytes + 7) / 8 * 8;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(whole, kMostTextBytes));
}

std::uint16_t key_bytes(const Fetch& fetch) {
  return fetch.is_text ? std::min(text_bytes(fetch), kKeyBytes) : std::uint16_t{8};
}

Fetch kept_word(std::uint16_t number, const Fetch& like) {
  Fetch fetch;
  fetch.index = static_cast<std::uint8_t>(FKT_CALL_FIRST_KEPT + number);
  fetch.is_signed = like.is_signed;
  fetch.bits = like.bits;
  return fetch;
}

RecordedField::Kind kind_of(const EventField& field, const Fetch& fetch) {
  using Shown = EventField::Shown;
  return field.shown == Shown::device    ? RecordedField::Kind::device
         : field.shown == Shown::address ? RecordedField::Kind::address
         : field.shown == Shown::hex     ? RecordedField::Kind::hexadecimal
         : fetch.is_signed               ? RecordedField::Kind::signed_number
                                         : RecordedField::Kind::number;
}

}  // namespace fkt
