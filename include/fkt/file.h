/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The record file. All little endian; a file is all that another machine needs.
 *
 *   file header | sections | zeros up to header.pages_offset
 *   pages, each header.page_bytes long, of all CPUs mixed, in order per CPU, or groups of such pages,
 *   compressed: the header's version says which
 *   sections written after the recording ("the tail"), from header.tail_offset on
 *
 * Sections have a size and can be skipped. A recorder that could not finish leaves tail_offset 0:
 * then pages end at the first one without the recording's id (what follows is not data), and the
 * index is rebuilt by scanning. In a stream (a pipe) tail_offset is 0 too, and the tail follows
 * the last page directly: a section's magic stands where a page's would.
 *
 * Payloads: the text ones are JSON objects or lines of tab-separated columns, UTF-8; the keys are
 * listed at each type. Readers ignore keys, columns and sections that they do not know.
 */
#ifndef FKT_FILE_H
#define FKT_FILE_H

#include <fkt/wire.h>

#define FKT_FILE_MAGIC "FKTTRACE" /* 8 bytes, no terminating zero */
#define FKT_FILE_VERSION 4 /* a reader refuses higher ones */
#define FKT_FILE_VERSION_PAGES 3 /* the page area is pages */
#define FKT_FILE_VERSION_GROUPS 4 /* the page area is groups */
/* Before them, 1 and 2: sections' checksums are of the payload alone, and no section says that it is the last. */
#define FKT_FILE_VERSION_CHECKED 3
#define FKT_FILE_ALIGN 4096 /* pages_offset and tail_offset are multiples of it */

static inline int fkt_file_has_groups(__u32 version)
{
	return version % 2 == 0;
}

struct fkt_file_header {
	char magic[8];
	__u32 version;
	__u32 header_bytes; /* sizeof(struct fkt_file_header): the first section's offset */
	__u64 recording; /* random id; every page bears it */
	__u64 pages_offset; /* bytes from the file's start */
	__u64 tail_offset; /* 0: unknown, see above */
	__u32 page_bytes;
	__u32 checksum; /* CRC-32 (zlib's) of the 44 bytes before it, with tail_offset taken as 0 */
};

FKT_LAYOUT(sizeof(struct fkt_file_header) == 48);
FKT_LAYOUT(offsetof(struct fkt_file_header, checksum) == 44);

/*
 * A group of pages in one zstd frame, which follows its header. It begins at a multiple of
 * FKT_FILE_ALIGN, with zeros up to there: a group is one direct write, and one that is damaged does
 * not hide the next. (Padding takes 3 %, where groups of 256 KiB become a quarter.) The pages of all
 * groups one behind the other are what the page area would be without compression: "offset of a
 * page" means that there.
 */
#define FKT_GROUP_MAGIC 0x47544b46U /* "FKTG" */
#define FKT_GROUP_MAX_BYTES (4U << 20) /* of pages in a group; a reader refuses more */

struct fkt_group_header {
	__u32 magic;
	__u32 header_bytes; /* sizeof(struct fkt_group_header): the frame's offset */
	__u64 recording; /* the file's */
	__u64 first_page; /* running number in this file of its first page, from 0 */
	__u32 pages;
	__u32 stored_bytes; /* of the frame */
	__u32 stored_checksum; /* CRC-32 (zlib's) of the frame */
	__u32 checksum; /* CRC-32 of the 36 bytes before it */
};

FKT_LAYOUT(sizeof(struct fkt_group_header) == 40);
FKT_LAYOUT(offsetof(struct fkt_group_header, checksum) == 36);

#define FKT_SECTION_MAGIC 0x53544b46U /* "FKTS" */
#define FKT_SECTION_ZSTD 0x1
#define FKT_SECTION_CHECKED 0x2 /* the checksum is of the header too */

struct fkt_section_header {
	__u32 magic;
	__u32 type; /* enum fkt_section */
	__u32 flags; /* FKT_SECTION_ZSTD: the payload is one zstd frame; FKT_SECTION_CHECKED */
	/* CRC-32 (zlib's) of the payload as stored; if checked, then of this header with checksum 0 */
	__u32 checksum;
	__u64 stored_bytes; /* of the payload; the next section starts at the next multiple of 8 */
	__u64 raw_bytes; /* uncompressed */
};

FKT_LAYOUT(sizeof(struct fkt_section_header) == 32);

enum fkt_section {
	/*
	 * JSON: sysname, nodename, release, version, machine (uname); cpus (possible), online (list),
	 * cpu_model, memory_bytes, tool_version
	 */
	FKT_SEC_MACHINE = 1,
	/*
	 * JSON: recorder_pid, workload_pid (0: none), command (array), user, cwd, mask, args, filter
	 * ("none", "process", "only", "no-self"), filter_pid, restricted (made without CAP_PERFMON),
	 * engine, pow_pages, options (array). Process numbers are the first pid namespace's.
	 */
	FKT_SEC_COMMAND = 2,
	/*
	 * JSON: source ("tsc", "mono"), khz, start: {clock, mono_raw_ns, mono_ns, real_ns}, zone
	 * (seconds east of UTC). All times that tools show count from start.clock. A recorder writes it
	 * twice: before the recording, and behind the other sections once that has begun, where start is
	 * the recording's first moment. The last one is good.
	 */
	FKT_SEC_CLOCKS = 3,
	/*
	 * Lines: tid, tgid, ppid, comm; every thread before the recording. comm: bytes below 0x20,
	 * 0x7f and the backslash as \xHH
	 */
	FKT_SEC_TASKS = 4,
	/* Lines: number or name (as "NMI"), device text, sum of counts so far */
	FKT_SEC_INTERRUPTS = 5,
	/*
	 * Lines: hexadecimal address (offset from the KASLR base not taken), type letter, name, module
	 * or nothing; ascending. First a line "#" tab "key=value" ... : kaslr_offset, source,
	 * system_map, contradictions
	 */
	FKT_SEC_SYMBOLS = 6,
	/*
	 * Lines "layer", bit, name, text; lines "event", hexadecimal id, name, layer bit, role, words
	 * ("var"), fields: as events.def has them
	 */
	FKT_SEC_CATALOGUE = 7,
	/* Lines: abi ("64", "32"), number, name: system calls of the machine recorded */
	FKT_SEC_SYSCALLS = 8,
	/*
	 * Only in a slice that fkt_extract cut out: lines that say what the pages before it would have
	 * told (lib/format/cut.h). The slice's first and last page may reach beyond it: events outside are not
	 * part of it. The totals say recording_stop_clock, where the whole recording ends. Then FKT_SEC_TASKS is of the cut, the totals count the slice, and the clocks' start
	 * is the whole recording's.
	 */
	FKT_SEC_CUT = 9,
	/*
	 * Only in a file that follows another of the same recording (fkt_record --rotate), or that is a
	 * snapshot of a flight recorder. JSON: number (from 1), snapshot (true: that is what it is), lost:
	 * array of {cpu, lost}: events lost before this file's first page of that CPU.
	 * Then FKT_SEC_TASKS is of about its begin, its totals count this file alone, and the clocks'
	 * start is the whole recording's.
	 */
	FKT_SEC_PART = 10,
	/*
	 * In a slice of several stretches: the state at the next one's begin, as FKT_SEC_CUT has it of
	 * the first; one section for each, in order of time, the stretches apart from each other. Each is
	 * read as a slice of its own. FKT_SEC_TASKS is of the first cut.
	 */
	FKT_SEC_CUT_MORE = 11,
	/*
	 * Empty; the last section before the pages, and the last one of the tail. Where it is missing, a
	 * section's header is damaged, and others cannot be found by it.
	 */
	FKT_SEC_END = 63,

	/*
	 * The tail. JSON: start_clock, stop_clock, events, lost, discarded, pages, bytes, stop_reason
	 * ("asked", "limit", "full", "error", "ring", "rotated": the next file goes on, "snapshot"), error, mask, drain_ns, wakeups, engine, workload_status
	 * (wait(2)'s, or null), descendants (array of {tid, comm}), end: {clock, mono_raw_ns, mono_ns,
	 * real_ns}, because (of a snapshot: what its condition came true of), source (of a slice: what
	 * was missing or damaged in the recording that it was cut out of), overwritten, per_cpu: array of {cpu, events, lost, discarded, overwritten, pages,
	 * gap_from, gap_lost}, missed (calls of functions with a kprobe that no event tells of), clock_back (events
	 * whose clock had stepped back)
	 */
	FKT_SEC_TOTALS = 64,
	/* As FKT_SEC_INTERRUPTS, at the end */
	FKT_SEC_INTERRUPTS_END = 65,
	/* struct fkt_index_entry per page, in file order */
	FKT_SEC_INDEX = 66,
	/*
	 * As FKT_SEC_TASKS, at the end of a flight recorder or of a snapshot of one, whose first page is
	 * much younger than that list: who lives at the end and was not forked in the pages lived at
	 * their begin. In a file that rotated: of about its begin, as that list is older
	 */
	FKT_SEC_TASKS_END = 67,
	/* struct fkt_group_entry per group, in file order; where the page area is groups */
	FKT_SEC_GROUPS = 68,
};

struct fkt_index_entry {
	__u64 first_clock; /* ticks */
	__u64 end_clock;
	__u64 seq;
	__u32 cpu;
	__u32 events;
};

FKT_LAYOUT(sizeof(struct fkt_index_entry) == 32);

struct fkt_group_entry {
	__u64 offset; /* in the file */
	__u64 first_page;
	__u32 pages;
	__u32 stored_bytes;
};

FKT_LAYOUT(sizeof(struct fkt_group_entry) == 24);

#endif /* FKT_FILE_H */
