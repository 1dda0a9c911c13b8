/* SPDX-License-Identifier: GPL-2.0-only */
/* Sites that mark, for the device of FKT_COVER_ARM. */
#ifndef FKT_COVERAGE_H
#define FKT_COVERAGE_H

struct fkt_site;

int fkt_coverage_init(void);
void fkt_coverage_exit(void);
void fkt_coverage_loses(const struct fkt_site *site);

#endif /* FKT_COVERAGE_H */
