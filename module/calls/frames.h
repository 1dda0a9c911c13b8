/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kinds of frames: how many words a traced call keeps on its task's stack until it returns. Also included by
 * trampoline.S. There is a kind per size, because trampoline.S and the stack unwinder must know the size at every
 * instruction. Each kind has its own shortest duration.
 */
#ifndef FKT_CALLS_FRAMES_H
#define FKT_CALLS_FRAMES_H

#define FKT_CALLS_PLAIN 0 /* keeps nothing: the user is not asked when the function is entered */
#define FKT_CALLS_FEW 1
#define FKT_CALLS_SOME 2
#define FKT_CALLS_MANY 3
#define FKT_CALLS_BRIEF 4 /* as FKT_CALLS_PLAIN, for functions with a smaller shortest duration */
#define FKT_CALLS_TASK 5 /* as FKT_CALLS_PLAIN, with a struct fkt_call_task (call.h) */
#define FKT_CALLS_TASK_MANY 6 /* as FKT_CALLS_MANY, with a struct fkt_call_task */
/* As FKT_CALLS_TASK; calls that are not recorded are held (held.c), so that a slow caller brings them along. */
#define FKT_CALLS_HELD 7
#define FKT_CALLS_HELD_BRIEF 8 /* as FKT_CALLS_HELD, for functions with a smaller shortest duration */
/* Keeps the six registers for arguments as they are. The user is not asked when the function is entered. */
#define FKT_CALLS_ARGUMENTS 9
#define FKT_CALLS_TASK_FEW 10 /* as FKT_CALLS_FEW, with a struct fkt_call_task */
#define FKT_CALLS_TASK_SOME 11 /* as FKT_CALLS_SOME, with a struct fkt_call_task */
#define FKT_CALLS_FRAMES 12

#define FKT_CALLS_FEW_WORDS 3
#define FKT_CALLS_SOME_WORDS 9
#define FKT_CALLS_MANY_WORDS 25
#define FKT_CALLS_ARGUMENT_WORDS 6

/*
 * No frame is put on a stack of which no more than this share is left: it is for the kernel, for what FKT calls at
 * entries and returns, and for interrupts and exceptions that come then. Frames with words are larger, so they leave as
 * much as some further ones of them would take.
 */
#define FKT_CALLS_STACK_SHARE 4
#define FKT_CALLS_STACK_FRAMES 16

#define FKT_CALLS_TASK_BYTES 16 /* of a struct fkt_call_task */
/* fkt_calls_depth (tasks.c) has the depth below these bits. */
#define FKT_CALLS_DEPTH_BITS 32

#endif /* FKT_CALLS_FRAMES_H */
