// SPDX-License-Identifier: GPL-2.0-only
/* Is to fkt what a module fkt_records of another version would be. */

#include <linux/module.h>

#include "../../../module/records/records.h"

static const struct fkt_record_type *find(const char *name)
{
	panic("other_records: fkt asks a module of another version\n");
}

const struct fkt_record_types fkt_record_types = { .version = FKT_RECORDS_VERSION + 1, .find = find };
EXPORT_SYMBOL_GPL(fkt_record_types);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of fkt: records of another version");
