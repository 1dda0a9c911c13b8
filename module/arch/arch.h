/* SPDX-License-Identifier: GPL-2.0-only */
/* What each processor has in a way of its own. The other rooms include this header, and none of a processor's own. */
#ifndef FKT_ARCH_H
#define FKT_ARCH_H

#ifdef CONFIG_X86_64
#include "x86/code.h"
#include "x86/counter.h"
#include "x86/one_instruction.h"
#include "x86/registers.h"
#include "x86/x86_compat.h"
#else
#error "FKT does not know this processor: arch/README.md says what it needs"
#endif

#endif /* FKT_ARCH_H */
