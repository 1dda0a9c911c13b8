// SPDX-License-Identifier: GPL-2.0-only
// The library for other programs: opening a recording, its events, its pages, its catalogue.
// docs/library.md describes how to build with it.
#pragma once

#include "lib/catalogue.h"
#include "lib/clock.h"
#include "lib/event.h"
#include "lib/merge.h"
#include "lib/page.h"
#include "lib/result.h"
#include "lib/trace.h"
#include "lib/version.h"
