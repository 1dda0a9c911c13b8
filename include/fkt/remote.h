/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The protocol that sends a recording to another machine: fkt_record -f tcp://HOST:PORT to fkt_receive.
 *
 *   receiver                            sender
 *   challenge (version, nonce)   ->
 *                                <-     hello (version, which recording, nonce, proof)
 *   answer (offset, proof)       ->
 *                                <-     frames from that offset on: the bytes of the record file
 *   acks (what is written)       ->
 *                                <-     FKT_REMOTE_END
 *   ack FKT_REMOTE_DONE          ->
 *                                <-     FKT_REMOTE_BYE
 *
 * All little endian, over one TCP connection. If the connection breaks, the sender opens another one
 * and says hello for the same recording. It keeps all bytes that were not acknowledged, so nothing is
 * lost then.
 *
 * Both ends know a token, and prove it by HMAC-SHA256 over both nonces without sending it. Nothing is
 * encrypted: an attacker who can read the connection can read the recording, and one who can modify the
 * connection can modify the recording. The checksums detect faults, not forgery.
 */
#ifndef FKT_REMOTE_H
#define FKT_REMOTE_H

#include <fkt/wire.h>

#define FKT_REMOTE_VERSION 2 /* both ends must have the same */
#define FKT_REMOTE_PORT 14358 /* the default port */
#define FKT_REMOTE_MAGIC 0x52544b46U /* "FKTR": every message begins with it */
#define FKT_REMOTE_NONCE_BYTES 32
#define FKT_REMOTE_PROOF_BYTES 32
#define FKT_REMOTE_FRAME_MOST 65536U /* bytes of a frame's payload; a receiver refuses more */

/* magic and version are at these places in every version. */
struct fkt_remote_challenge {
	__u32 magic;
	__u32 version;
	__u8 nonce[FKT_REMOTE_NONCE_BYTES];
};

struct fkt_remote_hello {
	__u32 magic;
	__u32 version;
	__u64 recording; /* random id, in the file's header and every page */
	__u32 page_bytes;
	__u32 pad;
	__u8 nonce[FKT_REMOTE_NONCE_BYTES];
	/* over "fkt sender", the challenge's nonce, and this structure up to here */
	__u8 proof[FKT_REMOTE_PROOF_BYTES];
};

enum fkt_remote_status {
	FKT_REMOTE_GOING = 0, /* offset: bytes written; the next frame begins there */
	FKT_REMOTE_DONE = 1, /* the file is finished */
	FKT_REMOTE_DENIED = 2, /* wrong token */
	FKT_REMOTE_BUSY = 3, /* the receiver is receiving another recording */
	FKT_REMOTE_FAILED = 4, /* the file cannot be written, see error; it is written up to offset */
	/*
	 * The disk is full except for a reserve for the end of the file, see error; the file is written
	 * up to offset. In an ack: the receiver then closes the connection and drops the frames under
	 * way; the sender must connect again and send only the end of the file, from that offset on. In
	 * an answer: the disk was full on an earlier connection; the end of the file continues at that
	 * offset.
	 */
	FKT_REMOTE_FULL = 5,
};

/*
 * After an answer other than GOING, DONE and FULL, and after an ack FAILED or FULL, the receiver closes
 * the connection.
 */
struct fkt_remote_answer {
	__u32 magic;
	__u32 status; /* enum fkt_remote_status */
	__u64 offset;
	__s32 error; /* errno of FKT_REMOTE_FAILED */
	__u32 pad;
	/*
	 * over "fkt receiver", the challenge's nonce, the hello's nonce, and this structure up to here;
	 * zeros if the hello's proof was wrong
	 */
	__u8 proof[FKT_REMOTE_PROOF_BYTES];
};

struct fkt_remote_ack {
	__u32 magic;
	__u32 status;
	__u64 offset;
	__s32 error;
	__u32 pad;
};

enum fkt_remote_frame_type {
	FKT_REMOTE_DATA = 1, /* bytes of the file at `offset` */
	/*
	 * The file ends at `offset`. Payload: __u64, the offset of its tail, which the receiver writes
	 * into the file's header once all other bytes are on its disk.
	 */
	FKT_REMOTE_END = 2,
	FKT_REMOTE_ABORT = 3, /* there is no recording: the receiver deletes the file */
	FKT_REMOTE_BYE = 4, /* the sender knows that the receiver has finished */
};

struct fkt_remote_frame {
	__u32 magic;
	__u32 type; /* enum fkt_remote_frame_type */
	__u64 offset; /* must be the end of the previous frame */
	__u32 bytes; /* of the payload that follows */
	__u32 checksum; /* CRC-32 (zlib's) of the 20 bytes before it and the payload */
};

FKT_LAYOUT(sizeof(struct fkt_remote_challenge) == 40);
FKT_LAYOUT(sizeof(struct fkt_remote_hello) == 88);
FKT_LAYOUT(offsetof(struct fkt_remote_hello, proof) == 56);
FKT_LAYOUT(sizeof(struct fkt_remote_answer) == 56);
FKT_LAYOUT(offsetof(struct fkt_remote_answer, proof) == 24);
FKT_LAYOUT(sizeof(struct fkt_remote_ack) == 24);
FKT_LAYOUT(sizeof(struct fkt_remote_frame) == 24);
FKT_LAYOUT(offsetof(struct fkt_remote_frame, checksum) == 20);

#endif /* FKT_REMOTE_H */
