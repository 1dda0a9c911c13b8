// SPDX-License-Identifier: GPL-2.0-only
/* The module that is loaded where neighbour.ko was (neighbour.c). */
#define SUCCESSOR
#include "neighbour.c"
