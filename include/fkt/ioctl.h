/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The one door of control: what a program can ask of /dev/fkt.
 *
 * A recording belongs to the open file that started it, and ends with it. Its pages leave in one
 * of three ways:
 *   - FKT_START with out_fd >= 0: a kernel thread writes them to that file;
 *   - FKT_START with out_fd = -1: the owner fetches them with sendfile(2), splice(2) or read(2)
 *     from /dev/fkt, whole pages in order per CPU; after FKT_STOP the rest, then end of file.
 *   - the same with FKT_START_ENGINE(FKT_ENGINE_LEND): the owner maps the device (mmap(2), PROT_READ,
 *     MAP_SHARED, from offset 0, at most FKT_MAP_PAGES pages long), takes complete pages by their
 *     numbers (FKT_TAKE), sees them at number * fkt_status.page_bytes, and gives them back (FKT_GIVE).
 *     Numbers are below what the largest of its mappings has room for. What it touches of the mapping
 *     without having been lent it may be any page of the recording.
 *     With FKT_START_OVERWRITE it may name an out_fd: if it dies, the kernel writes there what it keeps.
 * poll(2): POLLIN when pages can be fetched or taken; POLLPRI when the recording has ended by itself
 * (fkt_status.stop_reason says why); the owner then still sends FKT_STOP. POLLRDBAND when start.when came
 * true.
 *
 * All masks are 64 bits, all times ticks of the recording's clock unless their names say ns.
 */
#ifndef FKT_IOCTL_H
#define FKT_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FKT_DEVICE "/dev/fkt"
/* Changes when any structure or meaning below does, or the page (wire.h). Tools and module must have the same one. */
#define FKT_ABI_VERSION 3

enum fkt_state {
	FKT_IDLE = 0,
	FKT_RECORDING = 1,
	FKT_STOPPING = 2, /* ended by itself; waits for FKT_STOP */
	FKT_STOPPED = 3, /* stopped; pages may still wait to be fetched (out_fd = -1) */
};

enum fkt_stop_reason {
	FKT_STOP_NONE = 0,
	FKT_STOP_ASKED = 1, /* FKT_STOP, or the owner closed the device */
	FKT_STOP_LIMIT = 2, /* start.limit reached */
	FKT_STOP_FULL = 3, /* no space left in the output (ENOSPC, EDQUOT, EFBIG) */
	FKT_STOP_ERROR = 4, /* the output failed: fkt_status.error */
	FKT_STOP_RING = 5, /* a CPU had no free page, and FKT_START_STOP_WHEN_FULL was asked for */
};

enum fkt_filter {
	FKT_FILTER_NONE = 0,
	/* the process start.filter_pid with all its threads, of now and later */
	FKT_FILTER_PROCESS = 1,
	/* who calls FKT_JOIN, from its next system call on, and all its descendants */
	FKT_FILTER_JOIN = 2,
	/* everybody but the process that starts the recording and the module's own threads */
	FKT_FILTER_NOT_SELF = 3,
};

enum fkt_clock_source {
	FKT_CLOCK_TSC = 0, /* the time stamp counter: ticks of fkt_clocks.khz */
	FKT_CLOCK_MONO = 1, /* CLOCK_MONOTONIC, 1 tick = 1 ns */
};

#define FKT_START_ARGS 0x1 /* system calls' entries with their six arguments */
#define FKT_START_STOP_WHEN_FULL 0x2 /* the first event that finds no free page ends the recording */
/* Flight recorder: pages stay until the stop, the oldest make room for new ones; then they leave. */
#define FKT_START_OVERWRITE 0x4
#define FKT_START_NO_PAIRS 0x8 /* every begin and end is a word of its own (wire.h) */
/* Which engine writes to out_fd (enum fkt_engine_id); 0: the best that out_fd can do. */
#define FKT_START_ENGINE(id) ((__u32)(id) << 8)
#define FKT_START_ENGINE_OF(flags) ((flags) >> 8 & 0xff)

struct fkt_start {
	__u32 abi; /* FKT_ABI_VERSION */
	__u32 size; /* sizeof(struct fkt_start) */
	__s32 out_fd; /* where the kernel writes pages; -1: they are fetched */
	__u32 flags; /* FKT_START_* */
	__u64 mask; /* layers at the start */
	__u64 recording; /* random id, in every page; not 0 */
	__u64 offset; /* out_fd: where the first page goes (bytes, multiple of 4096) */
	__u64 limit; /* bytes of pages to keep, one at least; 0: as many as there is room for */
	__u64 reserve; /* out_fd: bytes kept allocated behind the pages, for what is written after */
	__u32 reserve_per_page; /* ... and so many more for each page written */
	__u32 clock; /* enum fkt_clock_source */
	__u32 filter; /* enum fkt_filter */
	__s32 filter_pid;
	__u64 when; /* user pointer to a struct fkt_when (condition.h): what FKT_FIRED tells of; 0: nothing */
};

/*
 * One moment on all clocks, read with interrupts off. For the owner of a recording during which the machine slept,
 * `clock` and `mono_raw_ns` count that, so that their rates can be compared.
 */
struct fkt_clocks {
	__u64 clock; /* ticks of the clock asked for (in: enum fkt_clock_source) */
	__u64 tsc;
	__u64 mono_raw_ns;
	__u64 mono_ns;
	__u64 real_ns;
	__u64 khz; /* of the clock asked for */
	__u32 tsc_usable; /* 1: the kernel holds the TSC for synchronised and stable */
	__u32 tsc_flags; /* 1 constant, 2 non-stop */
};

struct fkt_status {
	__u32 state; /* enum fkt_state */
	__u32 stop_reason; /* enum fkt_stop_reason */
	__s32 error; /* errno of FKT_STOP_ERROR and FKT_STOP_FULL */
	__s32 recorder; /* process (tgid) that owns the recording; 0: none */
	__u64 recording; /* its id */
	__u64 mask; /* layers recorded now */
	__u64 missing; /* bit i: FKT_MISSING_i below: what this kernel does not let us observe */
	__u64 events; /* written by probes */
	__u64 lost; /* not written: no page was free */
	__u64 discarded; /* written, but in pages after the limit, or that reached no output or reader */
	__u64 pages_written; /* in the output (or fetched) */
	__u64 bytes_written;
	__u64 drain_ns; /* CPU time of the drain thread in this recording */
	__u64 start_clock; /* ticks */
	__u64 stop_clock; /* ticks; 0 while recording */
	__u32 page_bytes;
	__u32 pages_total; /* all CPUs */
	__u32 pages_free;
	__u32 cpus_paused; /* CPUs that have no free page now */
	__u32 cpus; /* possible CPUs: highest number + 1 */
	__u32 wakeups; /* of the drain */
	__u32 engine; /* enum fkt_engine_id */
	__u32 pages_extra; /* allocated while recording, because few were free */
	__u32 lowest_free; /* least free pages that the drain found on a CPU */
	__u32 flags; /* FKT_STATUS_* */
	__u64 bytes_copied; /* by a CPU, on the way out */
	__u64 overwritten; /* events of old pages that made room (FKT_START_OVERWRITE) */
	__u64 looked_at; /* bytes of a sample of the pages that left */
	__u64 own_bytes; /* ... written while the recorder's threads or the drain ran */
	__u64 pages_back; /* FKT_ENGINE_CHECKIN: came out of the page cache, and into a ring again */
	__u64 pages_given; /* ... or stayed there */
	__u64 missed; /* calls of functions with a kprobe that came in another kprobe's handler: no event tells of them */
	__u64 clock_back; /* events whose clock had stepped back: they have the stamp of what was before */
};

/* Bits of fkt_status.flags: what this open file may do, and its user sees. */
#define FKT_STATUS_ALL 0x1 /* record all processes and the kernel's addresses: CAP_PERFMON, say */
#define FKT_STATUS_PID_NAMESPACE 0x2 /* the caller's numbers of processes are not the recordings' */

/* Bits of fkt_status.missing. */
#define FKT_MISSING_PID_FREE 0x1 /* the hook on free_pid */
#define FKT_MISSING_MATH_ERROR 0x2 /* floating point exceptions of user programs */
#define FKT_MISSING_TRACEPOINT 0x4 /* a tracepoint of the catalogue; the kernel log names it */
#define FKT_MISSING_USER_GP 0x8 /* general protection faults of user programs */
#define FKT_MISSING_DIE 0x10 /* the other exceptions */
#define FKT_MISSING_NMI 0x20 /* the begin of NMIs */

enum fkt_engine_id {
	FKT_ENGINE_NONE = 0,
	FKT_ENGINE_DIRECT = 1, /* asynchronous direct writes from the pages themselves */
	FKT_ENGINE_BUFFERED = 2, /* through the page cache */
	FKT_ENGINE_FETCH = 3, /* sendfile, splice, read by the owner */
	FKT_ENGINE_CHECKIN = 4, /* the pages themselves become the file's page-cache pages */
	FKT_ENGINE_LEND = 5, /* the owner sees them in its memory, and writes them itself */
};

#define FKT_MAP_PAGES (1U << 20) /* numbers of lent pages are smaller */
#define FKT_LEND_OVER 0x1 /* FKT_TAKE, out: stopped, and nothing will come any more */
#define FKT_LEND_UNWRITTEN 0x2 /* FKT_GIVE, in: they did not reach the output: discarded */

struct fkt_lend {
	__u64 pages; /* user pointer to __u32 numbers */
	__u32 count; /* FKT_TAKE: room there, out: pages taken; FKT_GIVE: pages given back */
	__u32 flags; /* FKT_LEND_* */
};

/* What FKT_FLIGHT asks of a flight recorder (FKT_START_OVERWRITE) whose pages are lent or fetched. */
enum fkt_flight_step {
	FKT_FLIGHT_LEAVE = 1, /* from now on pages can be taken, those of all the time before first */
	FKT_FLIGHT_CLOSE = 2, /* all that was recorded until now is in complete pages */
	FKT_FLIGHT_STAY = 3, /* pages stay again, the oldest make room for new ones */
};

#define FKT_INDEX_PAGES (1U << 15) /* the kernel remembers no more than so many */

/* What FKT_INDEX gives of pages that the kernel has written. */
struct fkt_index {
	__u64 first; /* place of the first one in the output, in pages */
	__u64 entries; /* user pointer to struct fkt_index_entry (file.h) */
	__u32 count;
	__u32 pad;
};

struct fkt_cpu_status {
	__u32 cpu; /* in: which CPU; ENXIO if it is beyond fkt_status.cpus */
	__u32 pages_free;
	__u64 events;
	__u64 lost;
	__u64 discarded;
	__u64 pages_written;
	__u64 gap_from; /* ticks: begin of a gap still open (at the stop: never closed); 0: none */
	__u64 gap_lost; /* events lost that no page tells of; while pages wait, in gaps before it too */
	__u64 overwritten;
};

/* Of what start.when came true. */
struct fkt_fired {
	__u64 clock; /* ticks */
	__u64 duration; /* ticks, of a call; FKT_WHEN_UNKNOWN: not measured */
	__s64 ret; /* of a call */
	__u32 id; /* as in struct fkt_when_set */
	__u32 cpu;
	__u32 pid;
	__u32 pad;
	char task[16];
};

#define FKT_IOC 0xf4

/*
 * The 2005 system's. Number of 4 KiB pages per CPU, as a power of two (1..16), of recordings of this open
 * file. EDQUOT: more than a sixteenth of the memory on all CPUs together, without CAP_PERFMON.
 */
#define FKT_SETINITPOWPAGES _IOW(FKT_IOC, 1, __u32)
/* Non-zero: pages below 4 GiB. */
#define FKT_SETTRYDMA _IOW(FKT_IOC, 2, __u32)
/* Gives the pages kept between recordings back; EBUSY while recording. So does the last close(2). */
#define FKT_FREEBUFFER _IO(FKT_IOC, 3)
/* Returns once a recording, of anybody's, runs. */
#define FKT_WAITREADY _IO(FKT_IOC, 4)
/* Add layers, remove layers, set them. ENODATA: nothing is being recorded; EPERM: it is another user's. */
#define FKT_ENABLE _IOW(FKT_IOC, 5, __u64)
#define FKT_DISABLE _IOW(FKT_IOC, 6, __u64)
#define FKT_SETMASK _IOW(FKT_IOC, 7, __u64)

/*
 * New. FKT_START: EBUSY when another open file records. Without FKT_STATUS_ALL: EACCES for other filters than
 * JOIN and PROCESS, and for a process that ptrace(2) would refuse. EPERM: the kernel is locked down.
 */
#define FKT_START _IOW(FKT_IOC, 16, struct fkt_start)
/* Ends the recording of this open file; returns when every page is written or can be fetched. */
#define FKT_STOP _IO(FKT_IOC, 17)
#define FKT_STATUS _IOR(FKT_IOC, 18, struct fkt_status)
#define FKT_CPU_STATUS _IOWR(FKT_IOC, 19, struct fkt_cpu_status)
#define FKT_GET_ABI _IOR(FKT_IOC, 20, __u32)
#define FKT_CLOCKS _IOWR(FKT_IOC, 21, struct fkt_clocks)
/*
 * The calling thread becomes a member at its next system call (FKT_FILTER_JOIN). By the owner's open file,
 * which it has inherited: ENODATA otherwise.
 */
#define FKT_JOIN _IO(FKT_IOC, 22)
/*
 * Lent pages, complete, in order per CPU; none: there are none now. EBADF: nothing is lent here; ENOBUFS: all
 * numbers are of pages that are lent.
 */
#define FKT_TAKE _IOWR(FKT_IOC, 23, struct fkt_lend)
/* Back to their rings, in any order. EINVAL: one that was not lent; those before it are back. */
#define FKT_GIVE _IOW(FKT_IOC, 24, struct fkt_lend)
/* enum fkt_flight_step; LEAVE closes open pages too. EOPNOTSUPP: no flight recorder, or the kernel writes. */
#define FKT_FLIGHT _IOW(FKT_IOC, 25, __u32)
/* The first time that start.when came true since the last such call. EAGAIN: it did not. */
#define FKT_FIRED _IOR(FKT_IOC, 26, struct fkt_fired)
/* After FKT_STOP. ENODATA: of some of them it is not kept (any more); their headers are in the output. */
#define FKT_INDEX _IOW(FKT_IOC, 27, struct fkt_index)
/* Of a thread in the caller's pid namespace: the number that recordings have for it. ESRCH: there is none. */
#define FKT_PID _IOWR(FKT_IOC, 28, __u32)

#endif /* FKT_IOCTL_H */
