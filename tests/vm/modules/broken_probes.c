// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes with broken descriptions, for tests/vm/cases/module_probes: each is called when the module is loaded. None may
 * be recorded, but for `good`.
 */

#include <linux/module.h>
#include <linux/tracepoint.h>

#include <fkt/probe.h>

#define BROKEN(point, text)						\
	static struct tracepoint __used point = { .name = text };	\
	asm(FKT_PROBE_LIST_(#point))

#define X8 "xxxxxxxx"
#define X64 X8 X8 X8 X8 X8 X8 X8 X8
#define X512 X64 X64 X64 X64 X64 X64 X64 X64

BROKEN(no_layer, "fkt1 nowhere no_layer x=u64");
BROKEN(own_layer, "fkt1 system own_layer x=u64");
BROKEN(no_type, "fkt1 instruments no_type x=u63");
BROKEN(no_name, "fkt1");
BROKEN(nameless, "fkt1 instruments ");
BROKEN(later, "fkt2 instruments later x=u64");
BROKEN(strange, "fkt1 instruments str\nange\tx=u64 \xff=u8");
BROKEN(long_one, "fkt1 instruments " X512);
BROKEN(unreadable, (const char *)0xdead000000000000);
BROKEN(nothing, NULL);
/* It has fewer values than its description says. */
BROKEN(few, "fkt1 instruments few a=u64 b=u64 c=u64");

FKT_DEFINE_EVENT(instruments, good);

static struct tracepoint *points[] = { &no_layer, &own_layer, &no_type, &no_name, &nameless, &later, &strange,
				       &long_one, &unreadable, &nothing, &few };

static int __init broken_probes_init(void)
{
	const u64 values[] = { 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (static_key_enabled(&points[i]->key))
			fkt_probe_hit(points[i], values, ARRAY_SIZE(values));
	FKT_TRACE(good);
	return 0;
}

static void __exit broken_probes_exit(void)
{
}

module_init(broken_probes_init);
module_exit(broken_probes_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Broken probes");
