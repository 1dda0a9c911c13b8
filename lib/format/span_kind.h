// SPDX-License-Identifier: GPL-2.0-only
// Kinds of spans, as the checkpoint of a slice stores them by number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fkt {

enum class SpanKind : std::uint8_t { syscall, syscall32, irq, vector, softirq, other };
inline constexpr std::size_t kSpanKinds = 6;
static_assert(static_cast<std::size_t>(SpanKind::other) + 1 == kSpanKinds);

// Spans of this kind nest on their CPU; all others nest on their task.
constexpr bool on_cpu(SpanKind kind) {
  return kind == SpanKind::irq || kind == SpanKind::vector || kind == SpanKind::softirq;
}
constexpr bool is_syscall(SpanKind kind) {
  return kind == SpanKind::syscall || kind == SpanKind::syscall32;
}

}  // namespace fkt
