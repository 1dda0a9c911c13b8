// SPDX-License-Identifier: GPL-2.0-only
// The library for other programs: opening a recording, its events, its pages, its catalogue.
// docs/library.md describes how to build with it.
#pragma once

#include "lib/base/result.h"
#include "lib/base/version.h"
#include "lib/format/catalogue.h"
#include "lib/format/clocks.h"
#include "lib/format/event.h"
#include "lib/read/event_merge.h"
#include "lib/read/page_decoder.h"
#include "lib/read/recording.h"
