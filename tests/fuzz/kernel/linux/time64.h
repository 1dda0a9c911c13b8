/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_FUZZ_TIME64_H
#define FKT_FUZZ_TIME64_H

#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L

#endif /* FKT_FUZZ_TIME64_H */
