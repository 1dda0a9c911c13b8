// SPDX-License-Identifier: GPL-2.0-only
/* Names of the functions in stacks (names.h), each kept once. */

#include <linux/align.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "names.h"

#define FIRST_ROOM SZ_16K

static u32 *next_of(const struct fkt_kft_names *names, u32 place)
{
	return (u32 *)(names->text + place) - 1;
}

/* Makes room for `add` more bytes. Returns whether there is room. */
static bool make_room(struct fkt_kft_names *names, u32 add)
{
	const u32 room = max(2 * names->room, (u32)FIRST_ROOM);
	char *larger;

	if (names->bytes + add <= names->room)
		return true;
	larger = kvmalloc(room, GFP_KERNEL_ACCOUNT);
	if (!larger)
		return false;
	if (names->bytes)
		memcpy(larger, names->text, names->bytes);
	kvfree(names->text);
	names->text = larger;
	names->room = room;
	return true;
}

/* Forgets which names addresses have: modules may have been unloaded and loaded since they were looked up. */
void fkt_kft_names_refresh(struct fkt_kft_names *names)
{
	memset(names->known, 0, sizeof(names->known));
}

/* Returns the name's place; 0: there is no memory for it. */
u32 fkt_kft_names_add(struct fkt_kft_names *names, const char *name)
{
	const u32 bytes = strlen(name) + 1;
	u32 *first = &names->first[full_name_hash(NULL, name, bytes - 1) % FKT_KFT_NAME_CHAINS], place;

	for (place = *first; place; place = *next_of(names, place))
		if (!strcmp(names->text + place, name))
			return place;
	if (!make_room(names, sizeof(u32) + ALIGN(bytes, sizeof(u32))))
		return 0;
	place = names->bytes + sizeof(u32);
	*next_of(names, place) = *first;
	memcpy(names->text + place, name, bytes);
	names->bytes = place + ALIGN(bytes, sizeof(u32));
	*first = place;
	return place;
}

/* Returns the place of the name of the function that a return address is in, as above. */
u32 fkt_kft_names_of(struct fkt_kft_names *names, u64 address)
{
	const u32 i = hash_64(address, ilog2(FKT_KFT_NAME_CHAINS));
	char name[KSYM_SYMBOL_LEN];

	if (names->known[i].name && names->known[i].address == address)
		return names->known[i].name;
	/* A call that never returns may be the last instruction of its function. */
	sprint_symbol_no_offset(name, address - 1);
	/* Behind a blank there is the name of its module. */
	name[strcspn(name, " ")] = 0;
	names->known[i].address = address;
	names->known[i].name = fkt_kft_names_add(names, name);
	return names->known[i].name;
}

const char *fkt_kft_names_at(const struct fkt_kft_names *names, u32 place)
{
	return place ? names->text + place : "?";
}
