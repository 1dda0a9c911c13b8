/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The interface of /dev/fkt: all ioctls and their structures.
 *
 * A recording belongs to the open file that started it, and ends when that file is closed. Its pages
 * are written in one of three ways:
 *   - FKT_START with out_fd >= 0: a kernel thread writes them to that file;
 *   - FKT_START with out_fd = -1: the owner fetches them with sendfile(2), splice(2) or read(2)
 *     from /dev/fkt, whole pages in order per CPU; after FKT_STOP the remaining ones, then end of file;
 *   - FKT_START with out_fd = -1 and FKT_START_ENGINE(FKT_ENGINE_URING): the owner maps the device
 *     (mmap(2), PROT_READ, MAP_SHARED, from offset 0, at most FKT_MAP_PAGES pages long), takes complete
 *     pages by number (FKT_TAKE), reads them at number * fkt_status.page_bytes in the mapping, and gives
 *     them back (FKT_GIVE). Numbers are smaller than the number of pages in the largest of its mappings.
 *     A part of the mapping that is not lent at the moment may show any page of the recording.
 *     With FKT_START_OVERWRITE the owner may pass an out_fd: if the owner dies, the kernel writes the
 *     pages it keeps to that file, from start.offset on. The owner writes those that it takes after
 *     FKT_STOP there itself, one behind the other in the order in which it takes them, and gives them
 *     back in that order: if it is killed by a signal meanwhile, the kernel writes the rest behind those
 *     given back, unless one was given back unwritten.
 * poll(2): POLLIN if pages can be fetched or taken; POLLPRI if the recording has ended by itself
 * (fkt_status.stop_reason says why), the owner must still send FKT_STOP; POLLRDBAND if the condition
 * start.trigger became true, or there was a hit of an instrument whose action is FKT_ACTION_SNAPSHOT;
 * POLLWRBAND if a hit of one whose action is FKT_ACTION_START has begun the recording.
 *
 * All masks are 64 bits; all times are ticks of the recording's clock unless their names say ns.
 */
#ifndef FKT_IOCTL_H
#define FKT_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include <fkt/call_place.h>
#include <fkt/handler.h>
#include <fkt/user_place.h>

#define FKT_DEVICE "/dev/fkt"
/*
 * Changes when a structure or meaning below or the page format (wire.h) changes. Tools and module must
 * have the same number.
 */
#define FKT_ABI_VERSION 34

enum fkt_state {
	FKT_IDLE = 0,
	FKT_RECORDING = 1,
	FKT_STOPPING = 2, /* ended by itself; waiting for FKT_STOP */
	FKT_STOPPED = 3, /* stopped; with out_fd = -1, pages may still have to be fetched */
};

enum fkt_stop_reason {
	FKT_STOP_NONE = 0,
	FKT_STOP_ASKED = 1, /* FKT_STOP, or the owner closed the device */
	FKT_STOP_LIMIT = 2, /* start.limit reached */
	FKT_STOP_FULL = 3, /* no space left in the output (ENOSPC, EDQUOT, EFBIG) */
	FKT_STOP_ERROR = 4, /* the output failed: fkt_status.error */
	FKT_STOP_RING = 5, /* a CPU had no free page, and FKT_START_STOP_WHEN_FULL was set */
	FKT_STOP_INSTRUMENT = 6, /* a hit of an instrument whose action it is: fkt_status.stopped_by */
};

enum fkt_filter {
	FKT_FILTER_NONE = 0,
	/* the process start.filter_pid with all its present and future threads */
	FKT_FILTER_PROCESS = 1,
	/* threads that call FKT_JOIN, from their next system call on, and all their descendants */
	FKT_FILTER_JOIN = 2,
	/* all threads except those of the process that starts the recording and the module's own */
	FKT_FILTER_NOT_SELF = 3,
};

enum fkt_clock_source {
	FKT_CLOCK_TSC = 0, /* the time stamp counter: ticks of fkt_clocks.khz */
	FKT_CLOCK_MONO = 1, /* CLOCK_MONOTONIC, 1 tick = 1 ns */
};

#define FKT_START_ARGS 0x1 /* record the entries of system calls with their six arguments */
#define FKT_START_STOP_WHEN_FULL 0x2 /* the first event that finds no free page ends the recording */
/* Flight recorder: pages stay in the rings until the stop, the oldest are overwritten; then they are written. */
#define FKT_START_OVERWRITE 0x4
#define FKT_START_NO_PAIRS 0x8 /* every begin and end is a word of its own, none are joined (wire.h) */
/* Which engine writes to out_fd (enum fkt_engine_id); 0: the best one that out_fd supports. */
#define FKT_START_ENGINE(id) ((__u32)(id) << 8)
#define FKT_START_ENGINE_OF(flags) ((flags) >> 8 & 0xff)

struct fkt_start {
	__u32 abi; /* FKT_ABI_VERSION */
	__u32 size; /* sizeof(struct fkt_start) */
	__s32 out_fd; /* the file the kernel writes pages to; -1: the owner fetches them */
	__u32 flags; /* FKT_START_* */
	__u64 mask; /* layers recorded at the start */
	__u64 recording; /* random id, stored in every page; not 0 */
	__u64 offset; /* out_fd: file position of the first page (bytes, multiple of 4096) */
	__u64 limit; /* bytes of pages to keep, at least one page; 0: as many as there is room for */
	__u64 reserve; /* out_fd: bytes kept allocated behind the pages, for the file's tail */
	__u32 reserve_per_page; /* additional bytes of reserve for each page written */
	__u32 clock; /* enum fkt_clock_source */
	__u32 filter; /* enum fkt_filter */
	__s32 filter_pid;
	/* user pointer to a struct fkt_trigger (trigger_hit.h), or 0; FKT_FIRED reports when it comes true */
	__u64 trigger;
	__u64 instruments; /* user pointer to a struct fkt_instruments; 0: none */
};

/* What is done with the hits of an instrument that its program keeps. All of them are counted (FKT_HIT_COUNTS). */
enum fkt_action {
	FKT_ACTION_RECORD = 0, /* an event is written */
	FKT_ACTION_COUNT = 1, /* nothing else */
	FKT_ACTION_HISTOGRAM = 2, /* the first word that the program emits is counted, by the next ones as its key */
	FKT_ACTION_SET = 3, /* sets a flag, which all programs can ask for (FKT_CONTEXT_FLAG) */
	FKT_ACTION_CLEAR = 4,
	FKT_ACTION_STOP = 5, /* ends the recording */
	FKT_ACTION_STACK = 6, /* an event is written, and events with the stacks of the kernel and the user program */
	/*
	 * The recording begins. If FKT_START has such an instrument, nothing else is recorded or done until its first
	 * hit; later hits are not seen.
	 */
	FKT_ACTION_START = 7,
	FKT_ACTION_SNAPSHOT = 8, /* the owner is told, as if start.trigger came true (FKT_FIRED) */
	FKT_ACTION_HANDLER = 9, /* the function that another module has registered is called (fkt/handler.h) */
	/*
	 * Primes the instruments whose action is FKT_ACTION_START: if FKT_START has an instrument with this action,
	 * their hits are not seen before its first hit. EINVAL: no instrument has FKT_ACTION_START.
	 */
	FKT_ACTION_PRIME = 10,
	FKT_ACTIONS = 11,
};

#define FKT_HISTOGRAM_KEY_WORDS 4
#define FKT_HISTOGRAM_ROWS 4096 /* at most, on each CPU */
#define FKT_HISTOGRAM_BYTES (1U << 24) /* of all histograms of a recording on each CPU, at most */
/*
 * Bucket 0 has the negative values. Powers of two: bucket 1 has 0, bucket n from 2 on the values from 1 << (n - 2) to
 * (1 << (n - 1)) - 1. Equal widths: bucket n from 1 on has the values from (n - 1) * width to n * width - 1, the last
 * one all larger values too.
 */
#define FKT_HISTOGRAM_BUCKETS 66

/* An instrument: the properties of hits at all its places. They are seen while its layer is recorded. */
struct fkt_instrument {
	__u32 action; /* enum fkt_action */
	__u32 layer; /* number of its bit in the mask */
	/*
	 * FKT_ACTION_SET, FKT_ACTION_CLEAR: below FKT_PROGRAM_FLAGS; or FKT_FLAG_OF_TASK and a number below
	 * FKT_TASK_FLAGS: of the current thread, if the hit is in its context, not in an interrupt's.
	 * FKT_ACTION_RECORD, FKT_ACTION_STACK: FKT_FLAG_NOT_SELF, or 0.
	 */
	__u32 flag;
	char handler[FKT_HANDLER_NAME_BYTES]; /* FKT_ACTION_HANDLER; the bytes from its terminating zero on are 0 */
	/* The rest is for FKT_ACTION_HISTOGRAM. */
	__u32 rows; /* different keys on each CPU: a power of two, at most FKT_HISTOGRAM_ROWS */
	__u64 width; /* of the buckets; 0: powers of two */
	__u32 scale, shift; /* unless `scale` is 0, what is counted is the value * scale >> shift */
	__u32 key_words; /* at most FKT_HISTOGRAM_KEY_WORDS */
	__u32 is_signed; /* 1: values may be negative */
};

#define FKT_INSTRUMENTS_MOST 16384
#define FKT_FLAG_OF_TASK 0x100
/*
 * Calls and entries of functions in the module's own threads, and in those of the process that started the recording,
 * count as FKT_MISSED_OWN; those in interrupts on top of these threads do not.
 */
#define FKT_FLAG_NOT_SELF 0x200

/*
 * Needs CAP_SYS_ADMIN, because the kernel cannot check everything: a function that takes arguments on the
 * stack must not be among those that are called through.
 */
struct fkt_instruments {
	__u64 instruments; /* user pointer to struct fkt_instrument[count]; places name them by their index */
	__u64 calls; /* user pointer to a struct fkt_calls; 0: none */
	__u64 entries; /* user pointer to a struct fkt_calls, of functions whose entries are seen; 0: none */
	__u64 instructions; /* user pointer to a struct fkt_calls, of instructions; 0: none */
	__u64 points; /* user pointer to a struct fkt_points; 0: none */
	__u64 users; /* user pointer to a struct fkt_users; 0: none */
	__u32 count; /* 1 to FKT_INSTRUMENTS_MOST */
	/*
	 * Threads with lower numbers can have flags; at most FKT_TASK_FLAGS_MOST, 0: none can. The first table of the
	 * recording with a number here decides.
	 */
	__u32 threads;
};

#define FKT_TASK_FLAGS_MOST (1U << 22)

/*
 * FKT_EXCHANGE: replaces the table of instruments during the recording. The new table begins with all instruments of
 * the previous one, described alike: they keep their counts and histograms, but may have other places. New instruments
 * follow. If both tables have functions with return probes (FKT_CALLED_BY_PROBE), these must be the same.
 *
 * Calls in flight of functions that are gone, or have other programs now, count as FKT_MISSED_STALE. But if the first
 * programs only emit unmodified arguments, such a call is recorded by the programs that are in force when it returns.
 */
struct fkt_exchange {
	__u64 instruments; /* user pointer to a struct fkt_instruments */
	/*
	 * User pointer to lines for the file's catalogue that describe the numbers of the table: written as events
	 * DEFINE before the exchange. Each line ends with a newline, and has at most FKT_DEFINE_BYTES with it.
	 */
	__u64 lines;
	__u32 line_bytes; /* at most FKT_DEFINE_MOST; 0: there are none */
	__u32 table; /* out: its number in the recording; FKT_START's has 0 */
};

#define FKT_DEFINE_BYTES 3584
#define FKT_DEFINE_MOST (1U << 24)

#define FKT_POINTS_MOST (1U << 13)
#define FKT_POINT_NAME_BYTES 64
#define FKT_POINT_ARGUMENTS 12

/* A tracepoint, or a probe of a module (probe.h), that an instrument is on. */
struct fkt_point {
	char name[FKT_POINT_NAME_BYTES]; /* without its system, or of the probe's module; zero-terminated */
	/*
	 * User pointer to the probe's description, zero-terminated; 0: a tracepoint. Probes with this description are
	 * recorded while their module is loaded, also if that happens later.
	 */
	__u64 probe;
	__u32 number; /* in its events; below FKT_POINTS_MOST */
	__u16 instrument; /* index */
	__u16 arguments; /* number that the tracepoint passes, or of the probe's fields; at most FKT_POINT_ARGUMENTS */
	/* fkt_point_record.bytes: the program uses the tracepoint's own record; 0: it does not */
	__u32 record_bytes;
	__u32 pad;
};

/*
 * A program's hit (program.h) has a word for each argument; bits above a narrower argument are arbitrary.
 */
struct fkt_points {
	__u64 points; /* user pointer to struct fkt_point[count] */
	__u64 programs; /* user pointer to the points' programs, in their order, one behind the other */
	__u32 count; /* 1 to FKT_POINTS_MOST */
	__u32 program_bytes; /* of all programs; at most FKT_CALLS_PROGRAM_BYTES */
};

/* Why a hit was missed: its program or its action was not run, or failed. */
enum fkt_missed {
	FKT_MISSED_MEMORY = 0, /* its program could not read memory */
	FKT_MISSED_NESTED = 1, /* it came while too many others were being handled on its CPU */
	/*
	 * a call that began in an earlier recording, or with another table of instruments (FKT_EXCHANGE), or during
	 * which the machine slept or the clock stepped back
	 */
	FKT_MISSED_STALE = 2,
	FKT_MISSED_FIELDS = 3, /* a module's probe does not have the fields of its description */
	FKT_MISSED_FULL = 4, /* the histogram had no room for its key */
	/*
	 * the kernel's probe did not see it: too many at once (in a user program, too many nested calls of a thread),
	 * or it came in another probe's handler
	 */
	FKT_MISSED_PROBE = 5,
	FKT_MISSED_ROOM = 6, /* the tracepoint's own record is longer than there is room for */
	/*
	 * a flag of a thread whose number is too high (fkt_instruments.threads), or in an interrupt; time and depth
	 * of a thread whose number is too high (fkt_calls.threads)
	 */
	FKT_MISSED_THREAD = 7,
	/*
	 * the return of a user program's call whose entry was not seen: it began before the recording or in the process
	 * that forked, or there was no room for it
	 */
	FKT_MISSED_ENTRY = 8,
	/* a user program's call that never returns: left by longjmp(3) or an exception, or ended with the program */
	FKT_MISSED_RETURN = 9,
	FKT_MISSED_HELD = 10, /* a call in a recorded call that could not be held (fkt_keep) */
	FKT_MISSED_OWN = 11, /* FKT_FLAG_NOT_SELF */
	FKT_MISSED_STACK = 12, /* a call whose stack was nearly used up, with no room for the frame that traces it */
};

#define FKT_MISSED_REASONS 13

#define FKT_RECORD_NAME_BYTES 48
#define FKT_RECORD_FIELDS 64

/* A field of a tracepoint's own record: what ftrace records of a hit, and tracefs describes in the file "format". */
struct fkt_record_field {
	char name[FKT_RECORD_NAME_BYTES]; /* zero-terminated; a longer one is cut */
	__u32 offset; /* in the record */
	__u32 size; /* bytes */
	__u32 is_signed;
	__u32 pad;
};

/* FKT_POINT_RECORD */
struct fkt_point_record {
	char name[FKT_POINT_NAME_BYTES]; /* in: of the tracepoint */
	__u64 fields; /* in: user pointer to struct fkt_record_field[FKT_RECORD_FIELDS] */
	__u32 count; /* out: of the fields */
	__u32 bytes; /* out: that each of its records has */
};

/*
 * FKT_MODULE_PROBES: the probes (probe.h) of the modules that are loaded: a line "MODULE\tDESCRIPTION\n" for each, in
 * the modules' order. Bytes that cannot be in a description are "?" here; a description that cannot be read, or is
 * too long, is empty.
 */
struct fkt_probe_list {
	__u64 text; /* user pointer to `bytes` bytes */
	__u32 bytes; /* in: size of the buffer, at most FKT_PROBE_LIST_BYTES; ERANGE: it is too small */
	__u32 used; /* out: bytes of the text, which has no terminating zero; also with ERANGE */
};

#define FKT_PROBE_LIST_BYTES (1U << 22)

#define FKT_ALL_CPUS (~0U)

/*
 * FKT_HIT_COUNTS: counts of one instrument. Calls that were shorter than fkt_called.shortest are not counted. Exact
 * once the recording is stopped.
 */
struct fkt_hit_counts {
	__u32 instrument; /* in; ENXIO: the recording has no such instrument */
	__u32 cpu; /* in: number, or FKT_ALL_CPUS for their sum; ENXIO: there is no such CPU */
	__u64 kept; /* hits with which the action was done; its events may be lost (fkt_status.lost) */
	__u64 dropped; /* by their program */
	__u64 missed[FKT_MISSED_REASONS]; /* by enum fkt_missed */
	/* The rest counts calls of all instruments and tasks together. */
	__u64 too_short; /* calls shorter than fkt_called.shortest */
	__u64 taken; /* calls of functions with another direct call at their entry (BPF), or replaced by livepatch */
	/* calls of functions that others trace by ftrace too: calls made while ftrace calls the others are not seen */
	__u64 shared;
	/*
	 * What tracing a call without values took at the start, at least, in a function that does nothing: in its own
	 * duration, and altogether, which is in its caller's. Durations in events contain it. 0: no calls are traced.
	 */
	__u32 inside_ns;
	__u32 total_ns;
};

/* The hits of one CPU that have the same key. Each CPU has rows of its own: readers add those with equal keys. */
struct fkt_histogram_row {
	__u64 key[FKT_HISTOGRAM_KEY_WORDS]; /* unused words are 0 */
	__u64 sum; /* of the values, modulo 1 << 64 */
	__u64 counts[FKT_HISTOGRAM_BUCKETS];
};

#define FKT_RESULTS_ROWS 64 /* at most, from one ioctl */

/* FKT_RESULTS: rows of an instrument's histogram. */
struct fkt_results {
	__u32 instrument; /* in; ENXIO: the recording has no such instrument, or it has no histogram */
	__u32 from; /* in: 0, or as the last call left it */
	__u64 rows; /* user pointer to struct fkt_histogram_row[count] */
	__u32 count; /* in: room; out: rows given, 0 if there are no more */
	__u32 pad;
};

/*
 * All clocks at one moment, read with interrupts off. For the owner of a recording during which the
 * machine slept, `clock` and `mono_raw_ns` include the time asleep, so that their rates can be
 * compared.
 */
struct fkt_clocks {
	__u64 clock; /* ticks of the clock selected (in: enum fkt_clock_source) */
	__u64 tsc;
	__u64 mono_raw_ns;
	__u64 mono_ns;
	__u64 real_ns;
	__u64 khz; /* of the clock selected */
	__u32 tsc_usable; /* 1: the kernel considers the TSC synchronised and stable */
	__u32 tsc_flags; /* bit 0: constant, bit 1: non-stop */
};

struct fkt_status {
	__u32 state; /* enum fkt_state */
	__u32 stop_reason; /* enum fkt_stop_reason */
	__s32 error; /* errno of FKT_STOP_ERROR and FKT_STOP_FULL */
	__s32 recorder; /* process (tgid) that owns the recording; 0: none */
	__u64 recording; /* its id */
	__u64 mask; /* layers recorded now */
	__u64 events; /* written by probes */
	__u64 lost; /* not written: no page was free */
	__u64 discarded; /* written by probes, but in pages that were not written to the output or fetched */
	__u64 pages_written; /* written to the output (or fetched) */
	__u64 bytes_written;
	__u64 drain_ns; /* CPU time of the drain thread in this recording */
	__u64 start_clock; /* ticks */
	__u64 stop_clock; /* ticks; 0 while recording */
	__u32 page_bytes;
	__u32 pages_total; /* all CPUs */
	__u32 pages_free;
	__u32 cpus_paused; /* CPUs that have no free page at present */
	__u32 cpus; /* possible CPUs: highest number + 1 */
	__u32 wakeups; /* how often the drain thread was woken */
	__u32 engine; /* enum fkt_engine_id */
	__u32 pages_extra; /* allocated while recording, because few pages were free */
	__u32 lowest_free; /* smallest number of free pages that the drain found on a CPU */
	__u32 flags; /* FKT_STATUS_* */
	__u64 bytes_copied; /* bytes copied by a CPU on the way to the output */
	__u64 overwritten; /* events in old pages that were overwritten (FKT_START_OVERWRITE) */
	__u64 sampled_bytes; /* bytes of event words in the pages taken from the rings, from a sample of them */
	__u64 own_bytes; /* of sampled_bytes: written while the recorder's threads or the drain ran */
	__u64 pages_back; /* FKT_ENGINE_CHECKIN: pages taken out of the page cache and put into a ring again */
	__u64 pages_given; /* FKT_ENGINE_CHECKIN: pages that stayed in the page cache */
	/* calls of functions with a kprobe that were not recorded, because they came in another kprobe's handler */
	__u64 missed;
	__u64 clock_back; /* events whose clock had stepped back: they have the stamp of the event before */
	__u32 stopped_by; /* FKT_STOP_INSTRUMENT: index of the instrument, plus 1; else 0 */
	__u32 lowest_stack; /* lowest FKT_CONTEXT_LOWEST_STACK so far (bytes), plus 1; 0: it was never read */
};

/* Bits of fkt_status.flags: what this open file may record, and the caller's view of pids. */
#define FKT_STATUS_ALL 0x1 /* may record all processes and kernel addresses (CAP_PERFMON, for example) */
/* the caller's pid namespace is not the first one, whose numbers recordings use */
#define FKT_STATUS_PID_NAMESPACE 0x2
/* Nothing is recorded until a hit of an instrument whose action is FKT_ACTION_START; after the stop: there was none. */
#define FKT_STATUS_WAITS 0x4

enum fkt_engine_id {
	FKT_ENGINE_NONE = 0,
	FKT_ENGINE_DIRECT = 1, /* asynchronous direct writes from the pages themselves */
	FKT_ENGINE_BUFFERED = 2, /* writes through the page cache */
	FKT_ENGINE_SENDFILE = 3, /* the owner fetches pages with sendfile, splice or read */
	FKT_ENGINE_CHECKIN = 4, /* the ring pages themselves become pages of the file's page cache */
	FKT_ENGINE_URING = 5, /* the owner reads the pages in a mapping, and writes them itself */
	FKT_ENGINE_KFT = 6, /* /proc/kft began the recording; the kernel keeps it as text. EINVAL for FKT_START */
};

#define FKT_MAP_PAGES (1U << 20) /* numbers of lent pages are smaller than this */
#define FKT_LEND_OVER 0x1 /* FKT_TAKE, out: stopped, and no more pages will come */
#define FKT_LEND_UNWRITTEN 0x2 /* FKT_GIVE, in: the pages were not written to the output and count as discarded */

struct fkt_lend {
	__u64 pages; /* user pointer to an array of __u32 page numbers */
	__u32 count; /* FKT_TAKE: in: size of the array, out: pages taken; FKT_GIVE: pages given back */
	__u32 flags; /* FKT_LEND_* */
};

/* Argument of FKT_FLIGHT, for a flight recorder (FKT_START_OVERWRITE) whose pages are lent or fetched. */
enum fkt_flight_step {
	FKT_FLIGHT_LEAVE = 1, /* from now on pages can be taken, the oldest first */
	FKT_FLIGHT_CLOSE = 2, /* closes open pages: all events recorded until now are then in complete pages */
	FKT_FLIGHT_STAY = 3, /* pages stay in the rings again, and the oldest are overwritten */
};

#define FKT_INDEX_PAGES (1U << 15) /* the kernel remembers at most this many index entries */

/* FKT_INDEX: index entries of pages that the kernel has written. */
struct fkt_index {
	__u64 first; /* position of the first page in the output, in pages */
	__u64 entries; /* user pointer to struct fkt_index_entry (file.h) */
	__u32 count;
	__u32 pad;
};

struct fkt_cpu_status {
	__u32 cpu; /* in: CPU number; ENXIO if it is not below fkt_status.cpus */
	__u32 pages_free;
	__u64 events;
	__u64 lost;
	__u64 discarded;
	__u64 pages_written;
	__u64 gap_from; /* ticks: begin of a gap still open (at the stop: never closed); 0: none */
	/* events lost that no page taken so far reports; while pages wait in the ring, includes earlier gaps */
	__u64 gap_lost;
	__u64 overwritten;
};

/* FKT_FIRED: the event that made start.trigger true, or the hit whose action is FKT_ACTION_SNAPSHOT. */
struct fkt_fired {
	__u64 clock; /* ticks */
	__u64 duration; /* duration of a system call (ticks); FKT_TRIGGER_UNKNOWN: not measured */
	__s64 ret; /* return value of a system call */
	__u32 id; /* as in struct fkt_trigger */
	__u32 cpu;
	__u32 pid;
	__u32 instrument; /* of a hit: index of its instrument, plus 1, and `id` is 0; else 0 */
	char task[16];
};

#define FKT_IOC 0xf4

/*
 * Number of 4 KiB pages per CPU, as a power of two (1..16), for recordings of this open file. EDQUOT: more than a
 * sixteenth of the memory for all CPUs together, without CAP_PERFMON.
 */
#define FKT_SETINITPOWPAGES _IOW(FKT_IOC, 1, __u32)
/* Non-zero: allocate pages below 4 GiB. EPERM: without CAP_PERFMON. */
#define FKT_SETTRYDMA _IOW(FKT_IOC, 2, __u32)
/* Frees the pages kept between recordings; EBUSY while recording. The last close(2) frees them too. */
#define FKT_FREEBUFFER _IO(FKT_IOC, 3)
/* Waits until a recording runs, whichever open file started it. */
#define FKT_WAITREADY _IO(FKT_IOC, 4)
/*
 * Add layers, remove layers, set them. ENODATA: no recording runs; EPERM: it belongs to another user; ENXIO: an added
 * layer has only events of instruments, and the recording has none of it; EBUSY: it waits (FKT_STATUS_WAITS).
 */
#define FKT_ENABLE _IOW(FKT_IOC, 5, __u64)
#define FKT_DISABLE _IOW(FKT_IOC, 6, __u64)
#define FKT_SETMASK _IOW(FKT_IOC, 7, __u64)

/*
 * FKT_START: EBUSY if another open file records, or if places in user programs are being armed or disarmed for long.
 * Without FKT_STATUS_ALL: EACCES for filters other than JOIN and PROCESS, and for a process that ptrace(2) would
 * refuse.
 * EPERM: the kernel is locked down; or start.instruments without CAP_SYS_ADMIN. With tracepoints also: ENXIO, there is
 * no such tracepoint. With calls and entries also: ENOPKG, the module fkt_calls is not loaded and cannot be; ENOENT,
 * none of the functions may be traced; ENODEV, ftrace is off. With calls: EOPNOTSUPP, the clock is not the TSC. With
 * probes: EINVAL, EILSEQ, see FKT_REFUSED. EUNATCH: no module has registered the handler of an instrument.
 */
#define FKT_START _IOW(FKT_IOC, 16, struct fkt_start)
/* Ends the recording of this open file; returns when every page was written or can be fetched. */
#define FKT_STOP _IO(FKT_IOC, 17)
/*
 * Of any recording, and of the last one until the next one starts. Without FKT_STATUS_ALL all counts of another user's
 * recording are 0; likewise in FKT_CPU_STATUS.
 */
#define FKT_STATUS _IOR(FKT_IOC, 18, struct fkt_status)
#define FKT_CPU_STATUS _IOWR(FKT_IOC, 19, struct fkt_cpu_status)
#define FKT_GET_ABI _IOR(FKT_IOC, 20, __u32)
#define FKT_CLOCKS _IOWR(FKT_IOC, 21, struct fkt_clocks)
/*
 * FKT_FILTER_JOIN: records the calling thread from its next system call on. Must be called on the
 * owner's open file, inherited by the caller: ENODATA otherwise.
 */
#define FKT_JOIN _IO(FKT_IOC, 22)
/*
 * Lends complete pages, in order per CPU; count is 0 if there are none at present. EBADF: this open
 * file has no recording that lends pages; ENOBUFS: all numbers belong to pages that are lent.
 */
#define FKT_TAKE _IOWR(FKT_IOC, 23, struct fkt_lend)
/*
 * Returns pages to their rings, in any order. EINVAL: a page that was not lent; those before it in the
 * array were returned.
 */
#define FKT_GIVE _IOW(FKT_IOC, 24, struct fkt_lend)
/*
 * Argument: enum fkt_flight_step. LEAVE also closes open pages. EOPNOTSUPP: the recording is not a
 * flight recorder, or the kernel writes its pages.
 */
#define FKT_FLIGHT _IOW(FKT_IOC, 25, __u32)
/* Returns the first event since the last call that made start.trigger true, or such a hit. EAGAIN: none. */
#define FKT_FIRED _IOR(FKT_IOC, 26, struct fkt_fired)
/*
 * Only after FKT_STOP. ENODATA: the kernel does not have the entries of some of these pages (any more);
 * their headers are in the output.
 */
#define FKT_INDEX _IOW(FKT_IOC, 27, struct fkt_index)
/* In: a thread's number in the caller's pid namespace; out: its number in recordings. ESRCH: no such thread. */
#define FKT_PID _IOWR(FKT_IOC, 28, __u32)
/* Counts of this open file's recording, until its next one starts. ENODATA: it has none. */
#define FKT_HIT_COUNTS _IOWR(FKT_IOC, 29, struct fkt_hit_counts)
/* EPERM: without CAP_SYS_ADMIN. */
#define FKT_MODULE_PROBES _IOWR(FKT_IOC, 30, struct fkt_probe_list)
/*
 * Rows of this open file's recording, also while it runs; with CAP_SYS_ADMIN of any recording. ENODATA: there is none;
 * EPERM: it is another open file's.
 */
#define FKT_RESULTS _IOWR(FKT_IOC, 31, struct fkt_results)
/*
 * Returns what the kernel refused to probe, so that the last FKT_START or FKT_EXCHANGE of this open file failed: the
 * address of a function or instruction (EILSEQ: no instruction begins there; EINVAL: it cannot be probed); from 1 to
 * FKT_USERS_MOST: the index in fkt_users.places of a place in a user program, plus 1; 0: the error has another cause.
 */
#define FKT_REFUSED _IOR(FKT_IOC, 32, __u64)
/*
 * For the owner of a recording. After an error the previous table stays in force. Errors: those of FKT_START for
 * instruments; ENODATA: the file has no running recording; EINVAL: an instrument of the previous table is missing;
 * EOPNOTSUPP: other return probes, another fkt_keep, or calls without the TSC; ENOBUFS: no page became free for the
 * lines.
 */
#define FKT_EXCHANGE _IOWR(FKT_IOC, 33, struct fkt_exchange)
/*
 * Describes the record that the module makes of a tracepoint's arguments. EPERM: without CAP_SYS_ADMIN; ENOENT: there
 * is none for this tracepoint; ENOSPC: the record has more fields than there is room for; ENOPKG: there is no module
 * fkt_records; EPROTO: fkt_records is of another version.
 */
#define FKT_POINT_RECORD _IOWR(FKT_IOC, 34, struct fkt_point_record)

/*
 * /dev/fkt_cover, of the module fkt_splices: which instructions are executed at all, on any CPU in any context. Each
 * open file has its own places, from FKT_COVER_ARM, which it can ask once, to its end. read(2) gives a byte of enum
 * fkt_cover_state for each place, in their order. It knows FKT_GET_ABI, too.
 */
#define FKT_COVER_DEVICE "/dev/fkt_cover"
/* Places of all open files together. */
#define FKT_COVER_MOST 131072

enum fkt_cover_state {
	FKT_COVER_REFUSED = 0, /* the instruction cannot be replaced, or belongs to another user of its place */
	FKT_COVER_ARMED = 1, /* not hit yet */
	FKT_COVER_HIT = 2,
	FKT_COVER_GONE = 3, /* its module was unloaded before it was hit */
};

struct fkt_cover {
	__u64 addresses; /* pointer to `count` __u64: of instructions, ascending */
	__u32 count;
	__u32 armed; /* out: how many are */
};

/*
 * -EINVAL: the addresses do not ascend, or are too many; -EPERM: it takes CAP_SYS_ADMIN, or the kernel is locked down;
 * -EBUSY: this file has places already.
 */
#define FKT_COVER_ARM _IOWR(FKT_IOC, 35, struct fkt_cover)

#endif /* FKT_IOCTL_H */
