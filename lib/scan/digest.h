// SPDX-License-Identifier: GPL-2.0-only
// Digesting a page: finds the bursts of events in the page that need not be read one by one, and
// collects what they add to the statistics.
//
// A page is digested without knowledge of earlier pages and other CPUs, so pages can be digested in
// any order and by several threads. Events that depend on such knowledge are not part of a burst:
// forks and other changes of tasks, the first event of a page, ends of interrupts that were open
// before the page, and begins of interrupts that stay open. lib/scan/scan.h reads these events one
// by one, and applies each burst between them in one step.
#pragma once

#include "lib/read/page_decoder.h"
#include "lib/scan/burst.h"
#include "lib/scan/digest_rules.h"
#include "lib/scan/shared_type_table.h"

namespace fkt {

// Fills `out`, which must be empty, from the page up to its end or its first damaged word. counted:
// the page's events count in the statistics; if false, only bursts and their parts are collected.
void digest(const Page& page, const DigestRules& rules, const SharedTypeTable& types, bool counted,
            PageDigest& out);

}  // namespace fkt
