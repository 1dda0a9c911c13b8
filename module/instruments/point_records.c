// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints' own records, which the module fkt_records makes: loaded when they are asked for, and held while a table
 * of tracepoints uses its functions.
 */

#include <linux/align.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include <fkt/ioctl.h>

#include "point_records.h"

static DEFINE_MUTEX(lock);
/* The table that the module exports, while `users` is not 0. Both are protected by `lock`. */
static const struct fkt_record_types *types;
static u32 users;

static int get_if_loaded(void)
{
	int err = 0;

	mutex_lock(&lock);
	if (!users)
		types = symbol_get(fkt_record_types);
	if (!types) {
		err = -ENOPKG;
	} else if (types->version != FKT_RECORDS_VERSION) {
		/* No reference is kept. */
		symbol_put(fkt_record_types);
		types = NULL;
		err = -EPROTO;
	} else {
		users++;
	}
	mutex_unlock(&lock);
	return err;
}

/*
 * Loads the module if necessary, and keeps it until fkt_point_records_put(). -ENOPKG: there is none; -EPROTO: it is of
 * another version. That takes as long as modprobe(8) does, perhaps for ever: the caller must hold no lock.
 */
int fkt_point_records_get(void)
{
	int err = get_if_loaded();

	if (err != -ENOPKG)
		return err;
	request_module("fkt_records");
	return get_if_loaded();
}

void fkt_point_records_put(void)
{
	mutex_lock(&lock);
	if (!--users) {
		symbol_put(fkt_record_types);
		types = NULL;
	}
	mutex_unlock(&lock);
}

/* Returns NULL if no record is made of this tracepoint. The caller must have called fkt_point_records_get(). */
const struct fkt_record_type *fkt_point_record_find(const char *name)
{
	/* `types` does not change while there is a user. */
	return types->find(name);
}

/* As the kernel computes the fields' offsets for the file "format" (trace_event_define_fields()). */
static int describe(const struct fkt_record_type *type, struct fkt_record_field *fields)
{
	const struct trace_event_fields *field;
	u32 offset = sizeof(struct trace_entry);
	u32 count = 0;

	for (field = type->fields; field->type; field++) {
		/* The fields of some events are defined by a function of the kernel that is not exported. */
		if (field->type == TRACE_FUNCTION_TYPE)
			return -ENOENT;
		if (count == FKT_RECORD_FIELDS)
			return -ENOSPC;
		offset = ALIGN(offset, field->align);
		strscpy(fields[count].name, field->name, sizeof(fields[count].name));
		fields[count].offset = offset;
		fields[count].size = field->size;
		fields[count].is_signed = field->is_signed;
		offset += field->size;
		count++;
	}
	return count;
}

static int give_fields(struct fkt_point_record *record)
{
	const struct fkt_record_type *type = fkt_point_record_find(record->name);
	struct fkt_record_field *fields;
	int count;

	if (!type)
		return -ENOENT;
	fields = kcalloc(FKT_RECORD_FIELDS, sizeof(*fields), GFP_KERNEL_ACCOUNT);
	if (!fields)
		return -ENOMEM;
	count = describe(type, fields);
	if (count > 0 && copy_to_user(u64_to_user_ptr(record->fields), fields, count * sizeof(*fields)))
		count = -EFAULT;
	kfree(fields);
	if (count < 0)
		return count;
	record->count = count;
	record->bytes = type->bytes;
	return 0;
}

/* FKT_POINT_RECORD */
int fkt_point_record_describe(const struct file *file, struct fkt_point_record *record)
{
	int err;

	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	if (strnlen(record->name, sizeof(record->name)) == sizeof(record->name))
		return -EINVAL;
	err = fkt_point_records_get();
	if (err)
		return err;
	err = give_fields(record);
	fkt_point_records_put();
	return err;
}
