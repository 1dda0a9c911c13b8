// SPDX-License-Identifier: GPL-2.0-only
/* Begin of the table of records: linked first, so its entry precedes those of the groups. */

#include <linux/compiler.h>

#include "records.h"

const struct fkt_record_type *const fkt_record_first __section("fkt_records") = NULL;
