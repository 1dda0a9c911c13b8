// SPDX-License-Identifier: GPL-2.0-only
/* The rest of the module, as module/drain/writeout.c sees it (writeout_harness.h). */
#include <fkt/file.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "drain/engine.h"
#include "drain/page_index.h"
#include "drain/recording.h"
#include "drain/writeout.h"
#include "ring/cpu_ring.h"
#include "ring/rings.h"
#include "ring/self.h"
#include "ring/wake.h"

#include "writeout_harness.h"

struct writeout_seen writeout_seen;
int32_t writeout_results[WRITEOUT_MOST];
bool writeout_asynchronous;
int64_t writeout_room;
int writeout_no_room;

struct fkt_cpu fkt_cpus[CPUS];

static struct fkt_recording recording;
static struct file output;
static struct fkt_chunk chunks[FKT_CHUNKS];
static struct fkt_page pages[WRITEOUT_MOST];
static struct fkt_page_header headers[WRITEOUT_MOST];
static bool in_ring[WRITEOUT_MOST]; /* or was, before it was taken */
static u32 page_count;
static u32 next_of[CPUS]; /* the first page that is not taken */

/* ---- the rings ---- */

u32 fkt_rings_page_bytes(void)
{
	return WRITEOUT_PAGE;
}

static struct fkt_page *complete_page(unsigned int cpu, u32 from)
{
	for (; from < page_count; from++)
		if (pages[from].cpu == cpu && in_ring[from])
			return &pages[from];
	return NULL;
}

struct fkt_page *fkt_ring_collect(unsigned int cpu)
{
	struct fkt_page *page = complete_page(cpu, next_of[cpu]);

	if (page)
		next_of[cpu] = page - pages + 1;
	return page;
}

bool fkt_ring_needs_drain(unsigned int cpu, u32 *complete)
{
	struct fkt_page *page;
	u32 from = next_of[cpu], count = 0;

	while ((page = complete_page(cpu, from))) {
		from = page - pages + 1;
		count++;
	}
	*complete += count;
	return count >= FKT_BATCH_PAGES;
}

void fkt_ring_recycle(struct fkt_page *page)
{
	writeout_seen.recycled[writeout_seen.recycled_count++] = page - pages;
}

void fkt_pool_put(struct fkt_pool *pool, struct fkt_page *page)
{
	writeout_seen.pooled++;
}

void fkt_rings_refill(void)
{
}

/* ---- the recording ---- */

void fkt_recording_end(struct fkt_recording *rec, enum fkt_stop_reason reason, int error)
{
	if (rec != &recording)
		abort();
	if (writeout_seen.ended++)
		return;
	writeout_seen.reason = reason;
	writeout_seen.error = error;
}

void fkt_kick_for_batches(void)
{
}

void fkt_tell(u32 id, u32 count, u64 word)
{
}

/* ---- the output ---- */

int vfs_fallocate(struct file *file, int mode, loff_t from, loff_t bytes)
{
	writeout_seen.room[writeout_seen.rooms++] = bytes;
	if (writeout_room < 0)
		return writeout_room;
	return from + bytes > writeout_room ? writeout_no_room : 0;
}

long vfs_truncate(const struct path *path, loff_t bytes)
{
	writeout_seen.truncated = bytes;
	return 0;
}

static void engine_write(struct fkt_chunk *chunk)
{
	const u32 n = writeout_seen.count++;
	struct iov_iter iter;

	fkt_chunk_iter(chunk, &iter);
	writeout_seen.writes[n] = (struct writeout_write){
		.at = chunk->pos + iter.at, .bytes = iter.count, .pages = chunk->count, .chunk = chunk,
	};
	if (!writeout_asynchronous)
		fkt_chunk_written(chunk, writeout_results[n] ?: (ssize_t)iter.count);
}

static const struct fkt_engine engine = { .keeps_header = true, .write = engine_write };

/* ---- the test ---- */

void writeout_begin(const struct writeout_setup *setup)
{
	memset(&recording, 0, sizeof(recording));
	memset(&writeout_seen, 0, sizeof(writeout_seen));
	memset(writeout_results, 0, sizeof(writeout_results));
	memset(chunks, 0, sizeof(chunks));
	memset(pages, 0, sizeof(pages));
	memset(fkt_cpus, 0, sizeof(fkt_cpus));
	memset(next_of, 0, sizeof(next_of));
	page_count = 0;
	writeout_asynchronous = false;
	writeout_room = INT64_MAX;
	writeout_no_room = -ENOSPC;
	output.inode.i_mode = setup->is_device ? S_IFBLK : S_IFREG;
	recording.drain.writeout = (struct fkt_writeout){
		.out = &output, .chunks = chunks, .pos = setup->start, .start = setup->start,
		.end = setup->limit ? setup->start + setup->limit : 0, .most = setup->most,
		.allocated = setup->start, .step = 1 << 20, .allocates = setup->allocates,
		.reserve = setup->reserve, .reserve_per_page = setup->reserve_per_page,
	};
	INIT_LIST_HEAD(&recording.drain.writeout.inherited);
	fkt_page_index_start(&recording.drain.index);
}

void writeout_add_page(uint32_t cpu, bool inherited)
{
	struct fkt_page *page = &pages[page_count];

	headers[page_count] = (struct fkt_page_header){ .cpu = cpu, .seq = page_count, .events = 1 };
	*page = (struct fkt_page){ .header = &headers[page_count], .cpu = cpu, .events = 1, .lent = inherited };
	in_ring[page_count] = !inherited;
	if (inherited)
		list_add_tail(&page->node, &recording.drain.writeout.inherited);
	page_count++;
}

static void sum_up(void)
{
	unsigned int cpu;

	writeout_seen.written = 0;
	writeout_seen.discarded = 0;
	for_each_possible_cpu(cpu) {
		writeout_seen.written += fkt_cpus[cpu].written;
		writeout_seen.discarded += fkt_cpus[cpu].discarded;
	}
}

bool writeout_move(bool all)
{
	const bool has_more = fkt_writeout_move(&recording.drain.writeout, &engine, all, true);

	sum_up();
	return has_more;
}

void writeout_finish(const struct writeout_write *write, int32_t result)
{
	fkt_chunk_written(write->chunk, result);
}

bool writeout_is_busy(void)
{
	return fkt_writeout_busy(&recording.drain.writeout);
}

void writeout_truncate(void)
{
	fkt_writeout_truncate(&recording.drain.writeout);
}

bool writeout_fits(uint64_t upto, uint64_t *need)
{
	loff_t end = 0;
	const bool fits = fkt_writeout_fits(&recording.drain.writeout, upto, &end);

	*need = end;
	return fits;
}

int writeout_index(uint64_t page, uint32_t *seq)
{
	const struct fkt_index request = { .first = page, .count = 1 };
	struct fkt_index_entry entry;
	const int err = fkt_page_index_copy(&recording.drain.index, &request, 0, &entry, 1);

	if (!err)
		*seq = entry.seq;
	return err;
}

void writeout_end(void)
{
	fkt_page_index_stop(&recording.drain.index);
}
