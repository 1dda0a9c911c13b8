/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* libfkt-user.so (fkt/user_library.h). */
#include <fkt/user.h>
#include <fkt/user_library.h>

#define FKT_PUBLIC __attribute__((visibility("default")))

struct fkt_library_event {
	struct fkt_user_event event;
	unsigned int count;
	struct fkt_user_value fields[FKT_USER_MOST_VALUES]; /* name, type and bits */
};

static const struct {
	const char *name;
	char type;
	unsigned char bits;
} types[] = {
	{ "u32", 'u', 32 }, { "u64", 'u', 64 }, { "s32", 's', 32 }, { "s64", 's', 64 },
	{ "x32", 'x', 32 }, { "x64", 'x', 64 }, { "text", 't', 0 },
};

static const struct {
	const char *name;
	char kind;
} kinds[] = {
	{ "point", FKT_USER_POINT },
	{ "span", FKT_USER_SPAN },
	{ "async_begin", FKT_USER_ASYNC_FROM },
	{ "async_end", FKT_USER_ASYNC_TO },
};

/* Reads "name:type". Returns 0 if it is none. */
static int read_field(char *text, struct fkt_user_value *field)
{
	char *type = strchr(text, ':');
	size_t i;

	if (!type || type == text)
		return 0;
	*type++ = 0;
	field->name = text;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].name))
			continue;
		field->type = types[i].type;
		field->bits = types[i].bits;
		return 1;
	}
	return 0;
}

/* Reads all fields. text: stays in use. Returns 0 if they are none. */
static int read_fields(struct fkt_library_event *made, char *text)
{
	char *rest = NULL, *word;

	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (made->count == FKT_USER_MOST_VALUES || !read_field(word, &made->fields[made->count]))
			return 0;
		made->count++;
	}
	return 1;
}

static char kind_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	}
	return 0;
}

static int is_good(const struct fkt_library_event *made)
{
	const char kind = made->event.kind;
	const struct fkt_user_value *first = made->fields;

	if (!kind || !*made->event.name)
		return 0;
	if (kind != FKT_USER_ASYNC_FROM && kind != FKT_USER_ASYNC_TO)
		return 1;
	return made->count > 0 && !strcmp(first->name, "id") && first->type == 'x' && first->bits == 64;
}

FKT_PUBLIC int fkt_library_version(void)
{
	return FKT_LIBRARY_VERSION;
}

FKT_PUBLIC int fkt_library_recorded(void)
{
	return fkt_user_recorded();
}

FKT_PUBLIC void fkt_library_probe(uint32_t code, unsigned int count, const int64_t *v)
{
	if (!v)
		count = 0;
	switch (count) {
	case 0:
		return fkt_user_probe0(code);
	case 1:
		return fkt_user_probe1(code, v[0]);
	case 2:
		return fkt_user_probe2(code, v[0], v[1]);
	case 3:
		return fkt_user_probe3(code, v[0], v[1], v[2]);
	case 4:
		return fkt_user_probe4(code, v[0], v[1], v[2], v[3]);
	case 5:
		return fkt_user_probe5(code, v[0], v[1], v[2], v[3], v[4]);
	default:
		return fkt_user_probe6(code, v[0], v[1], v[2], v[3], v[4], v[5]);
	}
}

FKT_PUBLIC struct fkt_library_event *fkt_library_event(const char *kind, const char *name, const char *fields)
{
	struct fkt_library_event *made = calloc(1, sizeof(*made));
	char *text = fields ? strdup(fields) : NULL, *copy = name ? strdup(name) : NULL;

	if (made && text && copy && kind) {
		made->event.name = copy;
		made->event.kind = kind_of(kind);
		if (read_fields(made, text) && is_good(made))
			return made;
	}
	free(copy);
	free(text);
	free(made);
	return NULL;
}

FKT_PUBLIC void fkt_library_write(struct fkt_library_event *event, const int64_t *values)
{
	struct fkt_user_value all[FKT_USER_MOST_VALUES];
	unsigned int i, count;

	if (!event || !fkt_user_recorded())
		return;
	count = values ? event->count : 0;
	for (i = 0; i < count; i++) {
		all[i] = event->fields[i];
		all[i].number = all[i].bits == 32 ? (uint32_t)values[i] : (uint64_t)values[i];
		all[i].text = all[i].type == 't' ? (const char *)(uintptr_t)values[i] : NULL;
	}
	if (event->event.kind == FKT_USER_SPAN)
		fkt_user_emit(&event->event, FKT_E_USER_BEGIN, FKT_E_USER_BEGIN_VALUES, all, count);
	else
		fkt_user_emit(&event->event, FKT_E_USER, FKT_E_USER_VALUES, all, count);
}

FKT_PUBLIC void fkt_library_end(struct fkt_library_event *event)
{
	if (event && event->event.kind == FKT_USER_SPAN && fkt_user_recorded())
		fkt_user_emit(&event->event, FKT_E_USER_END, FKT_E_USER_END, NULL, 0);
}
