// SPDX-License-Identifier: GPL-2.0-only
/* Records of the events of files, disks, network and devices (expand.h). */

#include "left_out"

#if __has_include(<linux/backing-dev.h>)
#include <linux/backing-dev.h>
#endif
#if __has_include(<linux/writeback.h>)
#include <linux/writeback.h>
#endif
#if __has_include(<linux/blk-mq.h>)
#include <linux/blk-mq.h>
#endif
#if __has_include(<linux/blk-cgroup.h>)
#include <linux/blk-cgroup.h>
#endif
#if __has_include(<linux/filelock.h>)
#include <linux/filelock.h>
#endif
#if __has_include(<linux/dma-fence.h>)
#include <linux/dma-fence.h>
#endif
#if __has_include(<linux/libata.h>)
#include <linux/libata.h>
#endif
#if __has_include(<linux/ip.h>)
#include <linux/ip.h>
#endif
#if __has_include(<linux/udp.h>)
#include <linux/udp.h>
#endif
#if __has_include(<linux/icmp.h>)
#include <linux/icmp.h>
#endif
#if __has_include(<linux/inetdevice.h>)
#include <linux/inetdevice.h>
#endif
#if __has_include(<linux/mii.h>)
#include <linux/mii.h>
#endif
#if __has_include(<linux/phy.h>)
#include <linux/phy.h>
#endif
#if __has_include(<linux/pfn_t.h>)
#include <linux/pfn_t.h>
#endif
#if __has_include(<linux/spi/spi.h>)
#include <linux/spi/spi.h>
#endif
#if __has_include(<linux/jbd2.h>)
#include <linux/jbd2.h>
#endif
/* Of a kernel without them, the headers do not compile. */
#if IS_ENABLED(CONFIG_VSOCKETS) && __has_include(<linux/virtio_vsock.h>)
#include <linux/virtio_vsock.h>
#endif
#if __has_include(<net/ip.h>)
#include <net/ip.h>
#endif
#if __has_include(<net/ipv6.h>)
#include <net/ipv6.h>
#endif
#if __has_include(<net/ip6_fib.h>)
#include <net/ip6_fib.h>
#endif
#if __has_include(<net/ip6_route.h>)
#include <net/ip6_route.h>
#endif
#if __has_include(<net/tcp.h>)
#include <net/tcp.h>
#endif
#if __has_include(<net/sock.h>)
#include <net/sock.h>
#endif
#if __has_include(<net/neighbour.h>)
#include <net/neighbour.h>
#endif
#if __has_include(<scsi/scsi_cmnd.h>)
#include <scsi/scsi_cmnd.h>
#endif
#if __has_include(<scsi/scsi_eh.h>)
#include <scsi/scsi_eh.h>
#endif
#if __has_include(<scsi/scsi_common.h>)
#include <scsi/scsi_common.h>
#endif

#include "group.h"

#if __has_include(<trace/events/block.h>)
#define FKT_HEADER <trace/events/block.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/devfreq.h>)
#define FKT_HEADER <trace/events/devfreq.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/devlink.h>)
#define FKT_HEADER <trace/events/devlink.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/dma.h>)
#define FKT_HEADER <trace/events/dma.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/dma_fence.h>)
#define FKT_HEADER <trace/events/dma_fence.h>
#include "expand.h"
#endif

/* Types that ext4 keeps in a private header and its events use. Their sizes are those of the on-disk format. */
typedef unsigned long long ext4_fsblk_t;
typedef __u32 ext4_lblk_t;
typedef unsigned int ext4_group_t;
typedef int ext4_grpblk_t;
#if __has_include(<trace/events/ext4.h>)
#define FKT_HEADER <trace/events/ext4.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/fib.h>)
#define FKT_HEADER <trace/events/fib.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/filelock.h>)
#define FKT_HEADER <trace/events/filelock.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/filemap.h>)
#define FKT_HEADER <trace/events/filemap.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/fs_dax.h>)
#define FKT_HEADER <trace/events/fs_dax.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/fscache.h>)
#define FKT_HEADER <trace/events/fscache.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/gpio.h>)
#define FKT_HEADER <trace/events/gpio.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/hwmon.h>)
#define FKT_HEADER <trace/events/hwmon.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/i2c.h>)
#define FKT_HEADER <trace/events/i2c.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/icmp.h>)
#define FKT_HEADER <trace/events/icmp.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/io_uring.h>)
#define FKT_HEADER <trace/events/io_uring.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/jbd2.h>)
#define FKT_HEADER <trace/events/jbd2.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/kyber.h>)
#define FKT_HEADER <trace/events/kyber.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/libata.h>)
#define FKT_HEADER <trace/events/libata.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/mdio.h>)
#define FKT_HEADER <trace/events/mdio.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/napi.h>)
#define FKT_HEADER <trace/events/napi.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/neigh.h>)
#define FKT_HEADER <trace/events/neigh.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/net.h>)
#define FKT_HEADER <trace/events/net.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/netlink.h>)
#define FKT_HEADER <trace/events/netlink.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/qdisc.h>)
#define FKT_HEADER <trace/events/qdisc.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/rtc.h>)
#define FKT_HEADER <trace/events/rtc.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/rwmmio.h>)
#define FKT_HEADER <trace/events/rwmmio.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/scsi.h>)
#define FKT_HEADER <trace/events/scsi.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/sctp.h>)
#define FKT_HEADER <trace/events/sctp.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/skb.h>)
#define FKT_HEADER <trace/events/skb.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/smbus.h>)
#define FKT_HEADER <trace/events/smbus.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/sock.h>)
#define FKT_HEADER <trace/events/sock.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/spi.h>)
#define FKT_HEADER <trace/events/spi.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/sunrpc.h>)
#define FKT_HEADER <trace/events/sunrpc.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/target.h>)
#define FKT_HEADER <trace/events/target.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/tcp.h>)
#define FKT_HEADER <trace/events/tcp.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/udp.h>)
#define FKT_HEADER <trace/events/udp.h>
#include "expand.h"
#endif

#if IS_ENABLED(CONFIG_VSOCKETS) && __has_include(<trace/events/vsock_virtio_transport_common.h>)
#define FKT_HEADER <trace/events/vsock_virtio_transport_common.h>
#include "expand.h"
#endif

#if __has_include(<trace/events/writeback.h>)
#define FKT_HEADER <trace/events/writeback.h>
#include "expand.h"
#endif
