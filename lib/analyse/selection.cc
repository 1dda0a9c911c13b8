// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/selection.h"

namespace fkt {

void Alive::before(const Event& event) {
  if (!watching_ || now_) return;
  const std::uint32_t tid = event.arg & FKT_PID_MASK;
  const bool begins = (event.id == FKT_E_FORK || is_switch(event.id)) && tid == pid_;
  if (!begins && (event.pid != pid_ || ended_)) return;
  now_ = seen_ = true;
  ended_ = false;
}

void Alive::after(const Event& event) {
  if (!watching_ || !now_) return;
  const bool left = (event.id == FKT_E_SWITCH_X || event.id == FKT_E_SWITCH_Z) && event.pid == pid_;
  const bool freed = event.id == FKT_E_PID_FREE && (event.arg & FKT_PID_MASK) == pid_;
  if (!left && !freed) return;
  now_ = false;
  ended_ = true;
}

}  // namespace fkt
