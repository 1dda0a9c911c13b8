/* SPDX-License-Identifier: GPL-2.0-only */
/* Starts and stops the recording. */
#ifndef FKT_CAPTURE_H
#define FKT_CAPTURE_H

#include "instruments/given.h"

struct file;
struct fkt_recording;
struct fkt_start;

void fkt_capture_init(struct fkt_recording *rec);
void fkt_capture_exit(struct fkt_recording *rec);
int fkt_capture_start(struct fkt_recording *rec, struct file *owner, const struct fkt_start *start);
int fkt_capture_start_checked(struct fkt_recording *rec, struct file *owner, const struct fkt_start *start,
			      enum fkt_given by);
int fkt_capture_stop(struct fkt_recording *rec, struct file *owner);
int fkt_capture_opened(struct fkt_recording *rec, struct file *file);
void fkt_capture_closed(struct file *file);
void fkt_capture_finish(struct fkt_recording *rec);

#endif /* FKT_CAPTURE_H */
