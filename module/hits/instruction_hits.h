/* SPDX-License-Identifier: GPL-2.0-only */
/* What a hit of an instruction does. */
#ifndef FKT_INSTRUCTION_HITS_H
#define FKT_INSTRUCTION_HITS_H

#include "arch/arch.h"

struct pt_regs;

void fkt_instruction_reached(unsigned long address, unsigned long ip, struct pt_regs *regs);
FKT_SAVES_REGISTERS void fkt_spliced_plainly(unsigned long address);
void fkt_spliced_with_registers(unsigned long address);
void fkt_spliced_reached(struct pt_regs *regs);

#endif /* FKT_INSTRUCTION_HITS_H */
