/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_CONTROL_H
#define FKT_CONTROL_H

int fkt_control_init(void);
void fkt_control_exit(void);

#endif /* FKT_CONTROL_H */
