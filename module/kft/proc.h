/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/kft and /proc/kft_data. */
#ifndef FKT_KFT_PROC_H
#define FKT_KFT_PROC_H

int fkt_kft_init(void);
void fkt_kft_exit(void);

#endif /* FKT_KFT_PROC_H */
