/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libfkt-user.so: what fkt/user.h does, as functions with nothing but numbers, pointers and texts, for programs in
 * other languages (Python with ctypes, Rust, Go). C and C++ programs include fkt/user.h, which costs less and needs no
 * library; a program that is linked with it may do both, and has one ring per thread all the same.
 *
 * All functions may be called from any thread. Nothing is written while the program is not recorded.
 */
#ifndef FKT_USER_LIBRARY_H
#define FKT_USER_LIBRARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function changes. */
#define FKT_LIBRARY_VERSION 1

struct fkt_library_event;

/* Returns FKT_LIBRARY_VERSION of the library. */
int fkt_library_version(void);

/* Returns 1 if this program is being recorded, else 0. */
int fkt_library_recorded(void);

/* An event with a number of your choice and up to 6 values; further ones are left out. values: NULL if count is 0. */
void fkt_library_probe(uint32_t code, unsigned int count, const int64_t *values);

/*
 * Makes an event with a name, which is copied. kind: "point"; "span", which has a begin and an end; "async_begin" and
 * "async_end", whose first field is "id:x64" and has the same value in both. fields: "key:u64 size:s32 at:x64
 * path:text", in their order, at most 16, or "" for none; of the types u32, u64, s32, s64, x32, x64 and text, of which
 * the last value is cut after 1000 bytes, others after 64. Returns NULL if kind or fields make no sense, or there is no
 * memory. Make it once, not for each event. It is never freed.
 */
struct fkt_library_event *fkt_library_event(const char *kind, const char *name, const char *fields);

/*
 * Records the event, or the begin of the span. values: one for each field; for a text its address as a number, or 0.
 * Does nothing if `event` is NULL.
 */
void fkt_library_write(struct fkt_library_event *event, const int64_t *values);

/* Ends the last span of this name that the thread has begun. */
void fkt_library_end(struct fkt_library_event *event);

#ifdef __cplusplus
}
#endif

#endif /* FKT_USER_LIBRARY_H */
