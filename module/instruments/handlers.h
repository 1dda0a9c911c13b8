/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of hits that other modules have registered. */
#ifndef FKT_HANDLERS_H
#define FKT_HANDLERS_H

#include <fkt/handler.h>

struct fkt_handler;

struct fkt_handler *fkt_handler_get(const char *name);
void fkt_handler_put(struct fkt_handler *handler);
fkt_handler_fn fkt_handler_function(const struct fkt_handler *handler);

#endif /* FKT_HANDLERS_H */
