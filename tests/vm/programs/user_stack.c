// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls umask(2) from functions with frame pointers, and prints the addresses that its user stack must have, the
 * innermost one first: behind the system call, then those that the functions return to. Words before that, one after the
 * other: "wait" for a byte of the standard input, "fork" and go on in the child, "exec" this program with the words behind it (found in PATH).
 * With the word "places": calls functions whose hits are recorded, and prints for each kind of place its name and the
 * addresses of its stack.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *addresses[3];
static int at;

#define WITH_FRAME __attribute__((noinline, noclone, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

WITH_FRAME static long innermost(long mask)
{
	void *behind;
	long old;

	asm volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
		     : "=a"(old), "=&r"(behind)
		     : "0"((long)SYS_umask), "D"(mask)
		     : "rcx", "r11", "memory");
	addresses[at++] = behind;
	addresses[at++] = __builtin_return_address(0);
	return old;
}

WITH_FRAME static long middle(long mask)
{
	const long old = innermost(mask);

	addresses[at++] = __builtin_return_address(0);
	return old;
}

/* ---- places in the program ---- */

static void *probe, *callers[3];

/* A probe of the program (USDT), as sys/sdt.h makes them. */
#define PROBE(name)                                                                                              \
	asm volatile("990:\tnop\n"                                                                               \
		     "\t.pushsection .note.stapsdt, \"\", \"note\"\n\t.balign 4\n"                                 \
		     "\t.4byte 992f-991f, 994f-993f, 3\n991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n"               \
		     "993:\t.8byte 990b, _.stapsdt.base, 0\n\t.asciz \"mine\"\n\t.asciz \"" name                   \
		     "\"\n\t.asciz \"\"\n994:\t.balign 4\n\t.popsection\n"                                       \
		     "\t.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"               \
		     "\t.weak _.stapsdt.base\n\t.hidden _.stapsdt.base\n_.stapsdt.base:\t.space 1\n"             \
		     "\t.size _.stapsdt.base, 1\n\t.popsection\n"                                              \
		     "\tlea 990b(%%rip), %0"                                                                    \
		     : "=r"(probe))

WITH_FRAME void stack_place(void)
{
	PROBE("middle");
	callers[0] = __builtin_return_address(0);
}

WITH_FRAME void stack_inner(void)
{
	stack_place();
	callers[1] = __builtin_return_address(0);
}

WITH_FRAME void stack_outer(void)
{
	stack_inner();
	callers[2] = __builtin_return_address(0);
}

/* Its caller has no frame, and numbers in the register and where the frame would be. */
void bare_place(void);
void bare_outer(void);
extern char bare_caller[];
asm("\t.text\n\t.globl bare_place\n\t.type bare_place, @function\nbare_place:\tret\n\t.size bare_place, . - bare_place\n"
    "\t.globl bare_outer\n\t.type bare_outer, @function\nbare_outer:\tpush %rbp\n\tmov $0x7d0, %ebp\n\tcall bare_place\n"
    "bare_caller:\n\tpush $0x7d0\n\tpush $0x123456\n\tmov %rsp, %rbp\n\tcall bare_place\n"
    "\tadd $16, %rsp\n\tpop %rbp\n\tret\n\t.size bare_outer, . - bare_outer\n");

/* Functions with names that are none in C; a function of each. */
#define NAMED(name)                                                                                              \
	"\t.globl \"" name "\"\n\t.type \"" name "\", @function\n\"" name "\":\tret\n\t.size \"" name "\", 1\n"
#define CALLED(name) "\tcall \"" name "\"\n"
#define NAMES(as) as("has space") as("with,comma") as("with:colon") as("dollar$name") as("go.(*T).f") as("caf\xc3\xa9")
void call_names(void);
asm("\t.text\n" NAMES(NAMED) "\t.globl call_names\n\t.type call_names, @function\ncall_names:\n" NAMES(CALLED)
    "\tret\n\t.size call_names, . - call_names\n");
asm("\t.globl _ZN3app6lookupEi\n\t.type _ZN3app6lookupEi, @function\n\t.set _ZN3app6lookupEi, stack_place\n");

static void places(void)
{
	stack_outer();
	bare_outer();
	call_names();
	printf("place %p %p %p %p\n", (void *)stack_place, callers[0], callers[1], callers[2]);
	printf("probe %p %p %p %p\n", probe, callers[0], callers[1], callers[2]);
	printf("bare %p %p\n", (void *)bare_place, (void *)bare_caller);
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 1 && !strcmp(argv[1], "places")) {
		places();
		return 0;
	}
	for (i = 1; i < argc; i++) {
		char byte;

		if (!strcmp(argv[i], "wait") && read(0, &byte, 1) != 1)
			return 1;
		if (!strcmp(argv[i], "fork") && fork())
			return wait(NULL) < 0;
		if (!strcmp(argv[i], "exec")) {
			execvp("user_stack", argv + i);
			return 1;
		}
	}
	middle(0123);
	for (i = 0; i < at; i++)
		printf("%p\n", addresses[i]);
	return 0;
}
