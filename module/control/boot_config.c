// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of KFT (fkt-kft(5)) on the kernel's command line, fkt.kft="...". fkt_record --from-boot, which an
 * initramfs runs, reads it from the module's parameters; it is parsed here as well, so that the kernel's log says what
 * is wrong with it even if no initramfs reads it.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <fkt/kft_parse.h>

#include "boot_config.h"

#define FKT_BOOT_CONFIG_BYTES 2048 /* as many as the kernel's command line has */

static char fkt_boot_config[FKT_BOOT_CONFIG_BYTES];
module_param_string(kft, fkt_boot_config, sizeof(fkt_boot_config), 0444);
MODULE_PARM_DESC(kft, "what fkt_record --from-boot records: a configuration of KFT, or /the/path/of/one");

void fkt_boot_config_check(void)
{
	struct fkt_kft_config *config;
	struct fkt_kft_error error;

	if (!fkt_boot_config[0] || fkt_boot_config[0] == '/')
		return;
	config = kvmalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return;
	if (!fkt_kft_parse(fkt_boot_config, strlen(fkt_boot_config), config, &error))
		pr_err("kft=: line %u, column %u: %s\n", error.line, error.column, error.message);
	kvfree(config);
}
