// SPDX-License-Identifier: GPL-2.0-only
/* The table of records (records.h). The groups' object files, linked between first.c and this one, add the entries. */

#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/string.h>

#include "records.h"

extern const struct fkt_record_type *const fkt_record_first;
const struct fkt_record_type *const fkt_record_last __section("fkt_records") = NULL;

static const struct fkt_record_type *find(const char *name)
{
	const struct fkt_record_type *const *type = &fkt_record_first;

	/* Hides from the compiler that the array is larger than the variable that begins it. */
	OPTIMIZER_HIDE_VAR(type);
	while (++type < &fkt_record_last)
		if (!strcmp((*type)->name, name))
			return *type;
	return NULL;
}

const struct fkt_record_types fkt_record_types = { .version = FKT_RECORDS_VERSION, .find = find };
EXPORT_SYMBOL_GPL(fkt_record_types);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Records of tracepoints, for fkt");
MODULE_VERSION("0.1");
