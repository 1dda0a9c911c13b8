/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_BOOT_CONFIG_H
#define FKT_BOOT_CONFIG_H

/* Logs what is wrong with the configuration on the kernel's command line. */
void fkt_boot_config_check(void);

#endif /* FKT_BOOT_CONFIG_H */
