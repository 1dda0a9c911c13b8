/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The format of the record file. All little endian; the file contains all that is needed to read it on
 * another machine.
 *
 *   file header | sections | zeros up to header.pages_offset
 *   pages of header.page_bytes bytes each, of all CPUs mixed, in order per CPU; or compressed groups of
 *   such pages: the header's version says which
 *   sections written after the recording ("the tail"), from header.tail_offset on
 *
 * Sections have a size and can be skipped. A recorder that could not finish leaves tail_offset 0:
 * then the pages end at the first one without the recording's id (what follows is not data), and the
 * index is rebuilt by scanning. In a stream (a pipe) tail_offset is 0 too, and the tail follows
 * the last page directly: a section's magic is where a page's magic would be.
 *
 * Text payloads are JSON objects or lines of tab-separated columns, UTF-8; the keys are
 * listed at each type. Readers ignore keys, columns and sections that they do not know.
 */
#ifndef FKT_FILE_H
#define FKT_FILE_H

#include <fkt/wire.h>

#define FKT_FILE_MAGIC "FKTTRACE" /* 8 bytes, no terminating zero */
#define FKT_FILE_VERSION 4 /* a reader refuses higher versions */
#define FKT_FILE_VERSION_PAGES 3 /* the page area consists of pages */
#define FKT_FILE_VERSION_GROUPS 4 /* the page area consists of groups */
/*
 * Versions 1 (pages) and 2 (groups) are older: the sections' checksums cover only the payload, and no
 * section marks the end of the sections (FKT_SEC_END).
 */
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
	__u64 recording; /* random id, also in every page */
	__u64 pages_offset; /* bytes from the file's start */
	__u64 tail_offset; /* 0: unknown, see above */
	__u32 page_bytes;
	__u32 checksum; /* CRC-32 (zlib's) of the 44 bytes before it, with tail_offset taken as 0 */
};

FKT_LAYOUT(sizeof(struct fkt_file_header) == 48);
FKT_LAYOUT(offsetof(struct fkt_file_header, checksum) == 44);

/*
 * A group of pages in one zstd frame, which follows this header. A group begins at a multiple of
 * FKT_FILE_ALIGN, padded with zeros: it is one direct write, and a damaged group does not hide the next
 * one. (The padding takes 3 % if groups of 256 KiB compress to a quarter.) The uncompressed pages of
 * all groups, concatenated, are the page area of an uncompressed file: "offset of a page" means the
 * offset in that area.
 */
#define FKT_GROUP_MAGIC 0x47544b46U /* "FKTG" */
#define FKT_GROUP_MAX_BYTES (4U << 20) /* pages of a group, uncompressed; a reader refuses more */

struct fkt_group_header {
	__u32 magic;
	__u32 header_bytes; /* sizeof(struct fkt_group_header): the frame's offset */
	__u64 recording; /* the file's */
	__u64 first_page; /* running number in this file of the group's first page, from 0 */
	__u32 pages;
	__u32 stored_bytes; /* of the frame */
	__u32 stored_checksum; /* CRC-32 (zlib's) of the frame */
	__u32 checksum; /* CRC-32 of the 36 bytes before it */
};

FKT_LAYOUT(sizeof(struct fkt_group_header) == 40);
FKT_LAYOUT(offsetof(struct fkt_group_header, checksum) == 36);

#define FKT_SECTION_MAGIC 0x53544b46U /* "FKTS" */
#define FKT_SECTION_ZSTD 0x1
#define FKT_SECTION_CHECKED 0x2 /* the checksum covers the section header too */

struct fkt_section_header {
	__u32 magic;
	__u32 type; /* enum fkt_section */
	__u32 flags; /* FKT_SECTION_ZSTD: the payload is one zstd frame; FKT_SECTION_CHECKED */
	/* CRC-32 (zlib's) of the payload as stored, followed, if CHECKED, by this header with checksum 0 */
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
	 * (seconds east of UTC). All times that tools show count from start.clock. A recorder writes
	 * this section twice: before the recording, and after the other sections once the recording has
	 * begun, with its first moment as start. The last one is valid.
	 */
	FKT_SEC_CLOCKS = 3,
	/*
	 * Lines: tid, tgid, ppid, comm of every thread that existed before the recording. comm: bytes
	 * below 0x20, 0x7f and the backslash are written as \xHH
	 */
	FKT_SEC_TASKS = 4,
	/* Lines: number or name (such as "NMI"), device text, sum of counts so far */
	FKT_SEC_INTERRUPTS = 5,
	/*
	 * Lines: hexadecimal address (without subtracting the KASLR offset), type letter, name, module
	 * or nothing; ascending. The first line is "#" tab "key=value" ... : kaslr_offset, source,
	 * system_map, contradictions
	 */
	FKT_SEC_SYMBOLS = 6,
	/*
	 * Lines "layer", bit, name, text; lines "event", hexadecimal id, name, layer bit, role, words
	 * ("var"), fields: as in events.def
	 */
	FKT_SEC_CATALOGUE = 7,
	/* Lines: abi ("64", "32"), number, name: system calls of the recorded machine */
	FKT_SEC_SYSCALLS = 8,
	/*
	 * Only in a slice cut out by fkt_extract: lines with the state that a reader would have at the
	 * begin of the slice from the pages before it (lib/format/checkpoint.h). The slice's first and last page may
	 * extend beyond it: events outside are not part of it. The totals contain recording_stop_clock,
	 * the end of the whole recording. In a slice, FKT_SEC_TASKS lists the tasks at the cut, the
	 * totals count the slice, and the clocks' start is that of the whole recording.
	 */
	FKT_SEC_CUT = 9,
	/*
	 * Only in a file that follows another file of the same recording (fkt_record --rotate), or that
	 * is a snapshot of a flight recorder. JSON: number (from 1), snapshot (true for a snapshot),
	 * lost: array of {cpu, lost}: events lost before this file's first page of that CPU. In such a
	 * file, FKT_SEC_TASKS lists the tasks at about its begin, the totals count this file alone, and
	 * the clocks' start is that of the whole recording.
	 */
	FKT_SEC_PART = 10,
	/*
	 * In a slice of several separate time ranges: the state at the begin of the second and each
	 * later range, as FKT_SEC_CUT holds it for the first; one section for each, in order of time.
	 * Each range is read as a slice of its own. FKT_SEC_TASKS lists the tasks at the first cut.
	 */
	FKT_SEC_CUT_MORE = 11,
	/*
	 * Only in a slice: lines with the calls that began in its pages, and whose events, written at
	 * their ends, are in pages that the slice does not have: CPU, begin, end (full stamps), hexadecimal
	 * id of the event, then argument and words (hexadecimal, with blanks between) of the begin that
	 * a reader makes of it (lib/format/call_events.h).
	 */
	FKT_SEC_BEGUN = 12,
	/*
	 * Lines added to the catalogue during the recording (events DEFINE), as far as they were known when the file
	 * began: in a file that follows others of its recording, and in a slice, which has all of them
	 */
	FKT_SEC_DEFINITIONS = 13,
	/*
	 * Only in a slice: as FKT_SEC_BEGUN, for calls that ended in its pages, and whose events are in pages that it
	 * does not have, because they were written later, when the calls that contain them had ended. CPU: of the end.
	 */
	FKT_SEC_ENDED = 14,
	/*
	 * Where stacks of programs are recorded. Lines: tgid, begin, end, offset in the file (hexadecimal), device
	 * (major << 20 | minor), inode, path: the code that processes had mapped when the recording began. Paths are
	 * written as names of tasks
	 */
	FKT_SEC_MAPS = 15,
	/*
	 * Empty; the last section before the pages, and the last one of the tail. If it is missing, a
	 * section header is damaged, and the sections after that one cannot be found.
	 */
	FKT_SEC_END = 63,

	/*
	 * First section of the tail. JSON: start_clock, stop_clock, events, lost, discarded, pages,
	 * bytes, stop_reason ("asked", "limit", "full", "error", "ring", "instrument", "rotated": the next file
	 * continues, "snapshot"), error, mask, drain_ns, wakeups, engine, workload_status (as returned
	 * by wait(2), or null), descendants (array of {tid, comm}), end: {clock, mono_raw_ns, mono_ns,
	 * real_ns}, because (of a snapshot: the event that made its condition true), source (of a
	 * slice: what was missing or damaged in the recording it was cut out of), overwritten, per_cpu:
	 * array of {cpu, events, lost, discarded, overwritten, pages, gap_from, gap_lost}, missed
	 * (calls of functions with a kprobe that were not recorded), clock_back (events whose clock had
	 * stepped back)
	 */
	FKT_SEC_TOTALS = 64,
	/* Like FKT_SEC_INTERRUPTS, at the end */
	FKT_SEC_INTERRUPTS_END = 65,
	/* struct fkt_index_entry for each page, in file order */
	FKT_SEC_INDEX = 66,
	/*
	 * Like FKT_SEC_TASKS, taken later. At the end of a flight recorder or of a snapshot of one,
	 * whose first page is much younger than FKT_SEC_TASKS: a task in this list that was not forked
	 * in the file's pages was alive at their begin. In a file that follows others (--rotate): the
	 * tasks at about its begin, because FKT_SEC_TASKS was made in advance. In a recording that a hit
	 * has begun: the tasks shortly after that hit
	 */
	FKT_SEC_TASKS_END = 67,
	/* struct fkt_group_entry for each group, in file order; only if the page area consists of groups */
	FKT_SEC_GROUPS = 68,
	/* Like FKT_SEC_DEFINITIONS: all that were added until the file's end */
	FKT_SEC_DEFINITIONS_END = 69,
	/*
	 * What the instruments have counted (lib/format/hit_results.h); only if there were any. In a slice too, it
	 * counts the whole recording. JSON: instruments: array of {text (as typed), action ("record", "count" ...),
	 * layer, places, of ("function" ...), calls (its hits are calls), removed (before the end), cpus: array of
	 * {cpu, kept, dropped, missed: {reason: hits}}, histogram: {value, unit ("ns" or ""), key ("": none), width
	 * (0: powers of two), rows: array of {key, sum, counts: array of [bucket, hits]}, with the buckets of
	 * FKT_HISTOGRAM_BUCKETS (ioctl.h)}}; and of all calls together too_short, taken, shared,
	 * inside_ns, total_ns, as in struct fkt_hit_counts
	 */
	FKT_SEC_INSTRUMENTS = 70,
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
	__u64 offset; /* position in the file */
	__u64 first_page;
	__u32 pages;
	__u32 stored_bytes;
};

FKT_LAYOUT(sizeof(struct fkt_group_entry) == 24);

#endif /* FKT_FILE_H */
