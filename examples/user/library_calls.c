/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Calls that a program makes of the C library and of zlib, as spans, of a program that nobody has changed or rebuilt:
 * a library that the dynamic linker puts before them. Without the module, and without privileges:
 *
 *   cc -O2 -shared -fPIC -I include library_calls.c -o library_calls.so
 *   fkt_record --user-only env LD_PRELOAD=$PWD/library_calls.so git log --stat
 *   fkt_kd
 *
 * Only calls from one library to another, or from the program to a library, come here: not those within a library, nor
 * those of programs that are linked statically.
 */
#define FKT_USER_SHARED __attribute__((visibility("hidden")))
#include <fkt/user.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

/* The function that would be called without this library. */
#define NEXT(name) ((__typeof__(&name))(uintptr_t)next_of((void **)&next_##name, #name))
#define WRAPPED(name) static __typeof__(&name) next_##name

static void *next_of(void **next, const char *name)
{
	void *found = __atomic_load_n(next, __ATOMIC_RELAXED);

	if (!found) {
		found = dlsym(RTLD_NEXT, name);
		if (!found)
			abort();
		__atomic_store_n(next, found, __ATOMIC_RELAXED);
	}
	return found;
}

/* The optional third argument of open(2). */
#define MODE_OF(flags)                                                  \
	__extension__({                                                 \
		mode_t mode = 0;                                        \
		if ((flags) & (O_CREAT | O_TMPFILE)) {                  \
			va_list more;                                   \
			va_start(more, flags);                          \
			mode = va_arg(more, mode_t);                    \
			va_end(more);                                   \
		}                                                       \
		mode;                                                   \
	})

#define OPENED(call)                                                                    \
	do {                                                                            \
		int fd;                                                                 \
		FKT_USER_BEGIN("open", FKT_X32("flags", flags), FKT_TEXT("path", path)); \
		fd = call;                                                              \
		FKT_USER_END("open");                                                   \
		return fd;                                                              \
	} while (0)

/* The other names of open(): what programs call that use large files, or were compiled with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
WRAPPED(open);
WRAPPED(open64);
WRAPPED(__open_2);
WRAPPED(__open64_2);

int open(const char *path, int flags, ...)
{
	const mode_t mode = MODE_OF(flags);

	OPENED(NEXT(open)(path, flags, mode));
}

int open64(const char *path, int flags, ...)
{
	const mode_t mode = MODE_OF(flags);

	OPENED(NEXT(open64)(path, flags, mode));
}

int __open_2(const char *path, int flags)
{
	OPENED(NEXT(__open_2)(path, flags));
}

int __open64_2(const char *path, int flags)
{
	OPENED(NEXT(__open64_2)(path, flags));
}

/* A call with a descriptor and a number of bytes. */
#define MOVED(name, bytes, call)                                                     \
	do {                                                                         \
		ssize_t done;                                                        \
		FKT_USER_BEGIN(name, FKT_I32("fd", fd), FKT_UINT("bytes", bytes));   \
		done = call;                                                         \
		FKT_USER_END(name);                                                  \
		return done;                                                         \
	} while (0)

WRAPPED(read);
WRAPPED(write);
WRAPPED(pread64);
WRAPPED(pwrite64);
WRAPPED(fsync);
WRAPPED(fdatasync);

ssize_t read(int fd, void *to, size_t bytes)
{
	MOVED("read", bytes, NEXT(read)(fd, to, bytes));
}

ssize_t write(int fd, const void *from, size_t bytes)
{
	MOVED("write", bytes, NEXT(write)(fd, from, bytes));
}

ssize_t pread64(int fd, void *to, size_t bytes, off64_t at)
{
	MOVED("pread", bytes, NEXT(pread64)(fd, to, bytes, at));
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at)
{
	MOVED("pwrite", bytes, NEXT(pwrite64)(fd, from, bytes, at));
}

int fsync(int fd)
{
	MOVED("fsync", 0, NEXT(fsync)(fd));
}

int fdatasync(int fd)
{
	MOVED("fdatasync", 0, NEXT(fdatasync)(fd));
}

/* Of zlib, without its header: the stream is passed on as it is. */
#define STREAMED(name)                             \
	int name(void *stream, int flush);         \
	WRAPPED(name);                             \
	int name(void *stream, int flush)          \
	{                                          \
		int status;                        \
		FKT_USER_BEGIN(#name);             \
		status = NEXT(name)(stream, flush); \
		FKT_USER_END(#name);               \
		return status;                     \
	}

STREAMED(inflate)
STREAMED(deflate)
