// SPDX-License-Identifier: GPL-2.0-only
// Digesting a page: finds the bursts of its events that need not be looked at one by one, and
// notes down what they add to the statistics.
//
// A page is digested without knowing what was before it or happens elsewhere, so pages can be
// digested in any order and by several threads. What depends on anything else is left out of the
// bursts: switches, forks and the like, the first event of a page, the ends of interrupts that were
// open before it and the begins of those that stay open. Whoever follows the recording (lib/scan.h)
// reads these events one by one, and the bursts between them in one step each.
#pragma once

#include "lib/burst.h"
#include "lib/digest_table.h"
#include "lib/known_types.h"
#include "lib/page.h"

namespace fkt {

// Fills `out`, which is empty, from the page up to its end or to where it is damaged. counted: its
// events count in the statistics; else nothing but the bursts is noted.
void digest(const Page& page, const DigestTable& table, const KnownTypes& types, bool counted,
            PageDigest& out);

}  // namespace fkt
