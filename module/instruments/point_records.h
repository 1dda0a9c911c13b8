/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints' own records, which the module fkt_records makes. */
#ifndef FKT_POINT_RECORDS_H
#define FKT_POINT_RECORDS_H

#include <linux/types.h>

#include "records/records.h"

struct file;
struct fkt_point_record;

int fkt_point_records_get(void);
void fkt_point_records_put(void);
const struct fkt_record_type *fkt_point_record_find(const char *name);
int fkt_point_record_describe(const struct file *file, struct fkt_point_record *record);

#endif /* FKT_POINT_RECORDS_H */
