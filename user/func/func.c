/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libfkt-func.so: the functions of a program compiled with -finstrument-functions, or with -pg -mfentry, as spans on the
 * recording's time line. fkt_record --functions has the dynamic linker load it before the program's own libraries.
 *
 * A call is a begin and an end as FKT_USER_BEGIN and FKT_USER_END make them: two words in the thread's ring. The rings
 * are not those of fkt/user.h: the program may have been built with another version of it.
 */
#define FKT_USER_SHARED __attribute__((visibility("hidden")))
#define FKT_USER_ATTACH_AS FKT_USER_ATTACH_FUNC
#define FKT_USER_CONSTRUCTOR /* begin() */
#include <fkt/user.h>

#include <setjmp.h>
#include <unwind.h>

#include "calls.h"
#include "vforked.h"

#define FKT_PUBLIC __attribute__((visibility("default")))

/* The stack pointer of a hook's caller. */
#define CALLERS_SP() ((uint64_t)(uintptr_t)__builtin_frame_address(0) + 16)

/* The compiler has each function call them by these names. */
FKT_PUBLIC void __cyg_profile_func_enter(void *function, void *caller);
FKT_PUBLIC void __cyg_profile_func_exit(void *function, void *caller);

FKT_PUBLIC void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	if (is_recorded())
		(void)enter_call((uint64_t)(uintptr_t)function, CALLERS_SP(), 0);
}

FKT_PUBLIC void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)caller;
	if (is_recorded())
		leave_call((uint64_t)(uintptr_t)function);
}

/* ---- what looks at the stack, or leaves functions without a word ---- */

/* The libraries' own functions of these names. */
static __attribute__((noreturn)) void (*next_longjmp)(jmp_buf, int);
static __attribute__((noreturn)) void (*next_plain_longjmp)(jmp_buf, int);
static __attribute__((noreturn)) void (*next_siglongjmp)(sigjmp_buf, int);
static __attribute__((noreturn)) void (*next_checked_longjmp)(jmp_buf, int);
static __attribute__((noreturn)) void (*next_pthread_exit)(void *);
static int (*next_backtrace)(void **, int);
static void *(*next_begin_catch)(void *);
static _Unwind_Reason_Code (*next_raise)(struct _Unwind_Exception *);
static _Unwind_Reason_Code (*next_rethrow)(struct _Unwind_Exception *);
static _Unwind_Reason_Code (*next_force)(struct _Unwind_Exception *, _Unwind_Stop_Fn, void *);
static _Unwind_Reason_Code (*next_walk)(_Unwind_Trace_Fn, void *);
static __attribute__((noreturn)) void (*next_resume)(struct _Unwind_Exception *);

#define HERE() ((uint64_t)(uintptr_t)__builtin_frame_address(0))

/* Returns the stack pointer that the C library has hidden in the buffer. */
static uint64_t stack_pointer_in(const struct __jmp_buf_tag *buffer)
{
	uint64_t sp = (uint64_t)buffer->__jmpbuf[6];

	__asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(sp));
	return sp;
}

static void leave_by_jump(const struct __jmp_buf_tag *buffer)
{
	unwind_calls(HERE(), stack_pointer_in(buffer));
}

FKT_PUBLIC void longjmp(jmp_buf buffer, int value)
{
	leave_by_jump(buffer);
	next_longjmp(buffer, value);
}

FKT_PUBLIC void _longjmp(jmp_buf buffer, int value)
{
	leave_by_jump(buffer);
	next_plain_longjmp(buffer, value);
}

FKT_PUBLIC void siglongjmp(sigjmp_buf buffer, int value)
{
	leave_by_jump(buffer);
	next_siglongjmp(buffer, value);
}

FKT_PUBLIC void __longjmp_chk(jmp_buf buffer, int value) __attribute__((noreturn));
FKT_PUBLIC void __longjmp_chk(jmp_buf buffer, int value)
{
	leave_by_jump(buffer);
	next_checked_longjmp(buffer, value);
}

FKT_PUBLIC void pthread_exit(void *result)
{
	unhook_calls(HERE());
	next_pthread_exit(result);
}

/* Finds the function in the libraries behind this one, also if they are a plugin's own. */
static void *find_in(const char *library, const char *name)
{
	void *const found = dlsym(RTLD_NEXT, name);
	void *const handle = found ? NULL : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

	return handle ? dlsym(handle, name) : found;
}

static void find_unwinder(void)
{
	*(void **)&next_begin_catch = find_in("libstdc++.so.6", "__cxa_begin_catch");
	*(void **)&next_raise = find_in("libgcc_s.so.1", "_Unwind_RaiseException");
	*(void **)&next_rethrow = find_in("libgcc_s.so.1", "_Unwind_Resume_or_Rethrow");
	*(void **)&next_force = find_in("libgcc_s.so.1", "_Unwind_ForcedUnwind");
	*(void **)&next_walk = find_in("libgcc_s.so.1", "_Unwind_Backtrace");
	*(void **)&next_resume = find_in("libgcc_s.so.1", "_Unwind_Resume");
}

/* C++ may have come with a library that was loaded later. */
static void prepare_to_unwind(uint64_t here)
{
	if (!next_raise)
		find_unwinder();
	unhook_calls(here);
}

FKT_PUBLIC _Unwind_Reason_Code _Unwind_RaiseException(struct _Unwind_Exception *thrown)
{
	prepare_to_unwind(HERE());
	return next_raise(thrown);
}

FKT_PUBLIC _Unwind_Reason_Code _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *thrown)
{
	prepare_to_unwind(HERE());
	return next_rethrow(thrown);
}

FKT_PUBLIC _Unwind_Reason_Code _Unwind_ForcedUnwind(struct _Unwind_Exception *thrown, _Unwind_Stop_Fn stop, void *given)
{
	prepare_to_unwind(HERE());
	return next_force(thrown, stop, given);
}

FKT_PUBLIC void _Unwind_Resume(struct _Unwind_Exception *thrown)
{
	prepare_to_unwind(HERE());
	next_resume(thrown);
}

FKT_PUBLIC _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn take, void *given)
{
	_Unwind_Reason_Code done;

	prepare_to_unwind(HERE());
	done = next_walk(take, given);
	hook_calls(put_back);
	return done;
}

FKT_PUBLIC int backtrace(void **addresses, int most);
FKT_PUBLIC int backtrace(void **addresses, int most)
{
	int found;

	prepare_to_unwind(HERE());
	found = next_backtrace ? next_backtrace(addresses, most) : 0;
	hook_calls(put_back);
	return found;
}

/* The handler of an exception begins. */
FKT_PUBLIC void *__cxa_begin_catch(void *thrown);
FKT_PUBLIC void *__cxa_begin_catch(void *thrown)
{
	void *object;

	if (!next_begin_catch)
		find_unwinder();
	object = next_begin_catch(thrown);
	if (put_back)
		hook_calls(CALLERS_SP());
	return object;
}

/* ---- what else this library comes between ---- */

/* A program that is linked with -pg would count its own calls, and write gmon.out. */
FKT_PUBLIC void __monstartup(unsigned long low, unsigned long high);
FKT_PUBLIC void _mcleanup(void);

FKT_PUBLIC void __monstartup(unsigned long low, unsigned long high)
{
	(void)low;
	(void)high;
}

FKT_PUBLIC void _mcleanup(void)
{
}

static int take_unloaded(struct dl_phdr_info *info, size_t bytes, void *unloaded)
{
	(void)bytes;
	*(unsigned long long *)unloaded = info->dlpi_subs;
	return 1;
}

FKT_PUBLIC int dlclose(void *handle)
{
	int (*const next)(void *) = (int (*)(void *))(uintptr_t)dlsym(RTLD_NEXT, "dlclose");
	unsigned long long before = 0, after = 0;
	int status;

	dl_iterate_phdr(take_unloaded, &before);
	status = next ? next(handle) : -1;
	dl_iterate_phdr(take_unloaded, &after);
	if (before != after)
		forget_functions();
	return status;
}

static int (*next_setname)(pthread_t, const char *);

/* Threads that end with their process do not say their names. */
FKT_PUBLIC int pthread_setname_np(pthread_t thread, const char *name)
{
	const struct fkt_user_thread *t = fkt_user_self;
	int error;

	if (!next_setname)
		*(void **)&next_setname = dlsym(RTLD_NEXT, "pthread_setname_np");
	error = next_setname(thread, name);
	if (!error && t && t->words && pthread_equal(thread, pthread_self()))
		prctl(PR_GET_NAME, t->ring->name);
	return error;
}

static void find_next(void)
{
	*(void **)&next_longjmp = dlsym(RTLD_NEXT, "longjmp");
	*(void **)&next_plain_longjmp = dlsym(RTLD_NEXT, "_longjmp");
	*(void **)&next_siglongjmp = dlsym(RTLD_NEXT, "siglongjmp");
	*(void **)&next_checked_longjmp = dlsym(RTLD_NEXT, "__longjmp_chk");
	*(void **)&next_pthread_exit = dlsym(RTLD_NEXT, "pthread_exit");
	*(void **)&next_backtrace = dlsym(RTLD_NEXT, "backtrace");
	find_unwinder();
}

/* Returns whether there is anything that was not so before: the program is recorded. */
static __attribute__((noinline, cold, constructor)) int begin(void)
{
	static int begun;

	if (__atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED))
		return 0;
	find_next();
	begin_numbers();
	/* In this order: a thread's calls are ended before its ring. */
	begin_calls_of_process();
	fkt_user_begin();
	return fkt_user_recorded();
}
