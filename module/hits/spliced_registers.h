/* SPDX-License-Identifier: GPL-2.0-only */
/* Hits of splices that need the registers (instructions.c). */
#ifndef FKT_SPLICED_REGISTERS_H
#define FKT_SPLICED_REGISTERS_H

struct pt_regs;

void fkt_spliced_with_registers(unsigned long address);
void fkt_spliced_reached(struct pt_regs *regs);

#endif /* FKT_SPLICED_REGISTERS_H */
