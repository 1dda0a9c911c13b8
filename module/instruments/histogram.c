// SPDX-License-Identifier: GPL-2.0-only
/*
 * A histogram has a table of rows per CPU, one for each key that was seen there, with open addressing. Rows are never
 * removed while the histogram is in use. Only its own CPU changes a table: a hit, or another one in an interrupt on top
 * of it. So all changes are single instructions without LOCK prefix; readers on other CPUs see each of them.
 */

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <asm/local.h>

#include <fkt/ioctl.h>

#include "histogram.h"

/* Rows that a hit tries, beginning with the one that its key's hash selects; after these the hit is missed. */
#define TRIES 16

/* States of a row; any other value is the hash of its key. */
#define ROW_FREE 0UL
#define ROW_CLAIMED 1UL /* its key is being written */

struct row {
	unsigned long state;
	u64 key[FKT_HISTOGRAM_KEY_WORDS];
	local_t sum;
	local_t counts[FKT_HISTOGRAM_BUCKETS];
};

struct fkt_histogram {
	u64 width; /* 0: the buckets are powers of two */
	u32 scale, shift; /* scale 0: values are as they are */
	u32 key_words;
	u32 rows; /* per CPU, a power of two */
	bool is_signed;
	struct row *of_cpu[]; /* nr_cpu_ids; NULL: the CPU is not possible */
};

static bool is_sound(const struct fkt_instrument *instrument)
{
	return instrument->rows <= FKT_HISTOGRAM_ROWS && is_power_of_2(instrument->rows) && instrument->shift < 64 &&
	       instrument->key_words <= FKT_HISTOGRAM_KEY_WORDS && instrument->is_signed <= 1;
}

/* Returns the bytes that the instrument's histogram takes on each CPU. */
size_t fkt_histogram_bytes(const struct fkt_instrument *instrument)
{
	return is_sound(instrument) ? instrument->rows * sizeof(struct row) : 0;
}

/* histogram: may be NULL. */
void fkt_histogram_free(struct fkt_histogram *histogram)
{
	unsigned int cpu;

	if (!histogram)
		return;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		kvfree(histogram->of_cpu[cpu]);
	kfree(histogram);
}

/* Returns an empty histogram, or an ERR_PTR. */
struct fkt_histogram *fkt_histogram_make(const struct fkt_instrument *instrument)
{
	struct fkt_histogram *histogram;
	unsigned int cpu;

	if (!is_sound(instrument))
		return ERR_PTR(-EINVAL);
	histogram = kzalloc(struct_size(histogram, of_cpu, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!histogram)
		return ERR_PTR(-ENOMEM);
	histogram->width = instrument->width;
	histogram->scale = instrument->scale;
	histogram->shift = instrument->shift;
	histogram->key_words = instrument->key_words;
	histogram->rows = instrument->rows;
	histogram->is_signed = instrument->is_signed;
	for_each_possible_cpu(cpu) {
		histogram->of_cpu[cpu] = kvzalloc_node(fkt_histogram_bytes(instrument), GFP_KERNEL_ACCOUNT,
								    cpu_to_node(cpu));
		if (!histogram->of_cpu[cpu]) {
			fkt_histogram_free(histogram);
			return ERR_PTR(-ENOMEM);
		}
	}
	return histogram;
}

/* ---- a hit: any context, preemption is disabled ---- */

static u32 bucket_of(const struct fkt_histogram *histogram, u64 value)
{
	if (histogram->is_signed && (s64)value < 0)
		return 0;
	if (!histogram->width)
		return 1 + fls64(value);
	return 1 + min_t(u64, div64_u64(value, histogram->width), FKT_HISTOGRAM_BUCKETS - 2);
}

/* Returns the key's hash, which differs from ROW_FREE and ROW_CLAIMED. */
static unsigned long hash_of(const u64 *key)
{
	u64 hash = 0;
	u32 i;

	for (i = 0; i < FKT_HISTOGRAM_KEY_WORDS; i++)
		hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ULL;
	return (hash ^ hash >> 32) | 2;
}

static bool has_key(const struct row *row, const u64 *key)
{
	u32 i;

	for (i = 0; i < FKT_HISTOGRAM_KEY_WORDS; i++)
		if (row->key[i] != key[i])
			return false;
	return true;
}

/* Claims the free row for the key. Returns false if an interrupt has claimed it. */
static bool claim(struct row *row, const u64 *key, unsigned long hash)
{
	u32 i;

	if (cmpxchg_local(&row->state, ROW_FREE, ROW_CLAIMED) != ROW_FREE)
		return false;
	for (i = 0; i < FKT_HISTOGRAM_KEY_WORDS; i++)
		row->key[i] = key[i];
	/* Pairs with the load-acquire in fkt_histogram_read(): a row whose hash is seen has its key. */
	smp_store_release(&row->state, hash);
	return true;
}

/*
 * Returns the key's row; NULL: there is no room for it. A hit in an interrupt that finds its own key being written
 * takes another row for it: readers add up rows with equal keys.
 */
static struct row *find_row(const struct fkt_histogram *histogram, const u64 *key)
{
	struct row *rows = histogram->of_cpu[raw_smp_processor_id()];
	unsigned long hash = hash_of(key);
	u32 i;

	for (i = 0; i < TRIES; i++) {
		struct row *row = &rows[((hash >> 2) + i) & (histogram->rows - 1)];
		unsigned long state = READ_ONCE(row->state);

		if (state == hash && has_key(row, key))
			return row;
		if (state == ROW_FREE && claim(row, key, hash))
			return row;
	}
	return NULL;
}

/* Adds a hit: the first of the words is its value, the rest its key. Returns false if the key has no room. */
bool fkt_histogram_add(const struct fkt_histogram *histogram, const u64 *words, u32 n)
{
	u64 key[FKT_HISTOGRAM_KEY_WORDS] = {};
	u64 value = n ? words[0] : 0;
	struct row *row;
	u32 i;

	for (i = 0; i < histogram->key_words && 1 + i < n; i++)
		key[i] = words[1 + i];
	row = find_row(histogram, key);
	if (unlikely(!row))
		return false;
	if (histogram->scale)
		value = mul_u64_u32_shr(value, histogram->scale, histogram->shift);
	local_add(value, &row->sum);
	local_inc(&row->counts[bucket_of(histogram, value)]);
	return true;
}

/* ---- reading: in tasks, also while hits come ---- */

static void copy_row(struct fkt_histogram_row *to, struct row *row)
{
	u32 i;

	memcpy(to->key, row->key, sizeof(to->key));
	to->sum = local_read(&row->sum);
	for (i = 0; i < FKT_HISTOGRAM_BUCKETS; i++)
		to->counts[i] = local_read(&row->counts[i]);
}

/*
 * Copies up to `most` rows, from number *from on, which is then that of the first row that was not looked at. Returns
 * how many were copied; fewer than `most` if these were the last.
 */
u32 fkt_histogram_read(const struct fkt_histogram *histogram, u32 *from, struct fkt_histogram_row *rows, u32 most)
{
	const u64 end = (u64)nr_cpu_ids * histogram->rows;
	u32 copied = 0;

	for (; *from < end && copied < most; (*from)++) {
		/* The caller's number: speculation must not use it beyond the array either. */
		struct row *of_cpu = histogram->of_cpu[array_index_nospec(*from / histogram->rows, nr_cpu_ids)];
		struct row *row = of_cpu + *from % histogram->rows;

		/* Pairs with the store-release in claim(). */
		if (of_cpu && smp_load_acquire(&row->state) > ROW_CLAIMED)
			copy_row(&rows[copied++], row);
	}
	return copied;
}
