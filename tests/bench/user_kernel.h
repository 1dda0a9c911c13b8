/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What trampoline.S takes from the kernel's headers, for a user program with one thread: a function's begin and
 * end, no hints for unwinders, plain returns. A per-CPU variable is a global one, with one instruction as there.
 */
#define SYM_CODE_START(name) .globl name; .p2align 4; name:
#define SYM_CODE_START_LOCAL(name) .p2align 4; name:
#define SYM_CODE_END(name)
#define SYM_L_GLOBAL
#define SYM_INNER_LABEL(name, linkage) .globl name; name:
#define ENDBR
#define ANNOTATE_NOENDBR
#define ANNOTATE_INTRA_FUNCTION_CALL
#define RET ret; int3
#define PER_CPU_VAR(name) name(%rip)
#define ORC_REG_SP 0
#define UNWIND_HINT_TYPE_CALL 0
#define UNWIND_HINT_FUNC
#define THREAD_SIZE 16384
.macro UNWIND_HINT sp_reg=0, sp_offset=0, type=0
.endm
