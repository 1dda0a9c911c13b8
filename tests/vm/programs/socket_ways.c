// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends and receives in each way that the kernel has, each on a socket of its own, with a number of bytes of its own.
 * The sockets stay open: the kernel would give their place, by which rows are told apart, to the next one.
 * Prints "PROTOCOL WHAT COUNT BYTES" for each row that fkt_print --sockets has to have, and "PROTOCOL peer OWN OTHER"
 * of a connection of version 6: the accepted end's own port, and the other end. An argument "tls": also TLS in the
 * kernel.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef SOL_TLS
#define SOL_TLS 282
#endif

static char data[64 << 10];
static int ends[2]; /* of a pipe */

static void check(long result, long expected, const char *what)
{
	if (result == expected)
		return;
	fprintf(stderr, "socket_ways: %s: %ld instead of %ld (%s)\n", what, result, expected, strerror(errno));
	exit(1);
}

static void say(const char *protocol, const char *what, int count, long bytes)
{
	printf("%s %s %d %ld\n", protocol, what, count, bytes);
}

static void fetch(int fd, long bytes, const char *what)
{
	check(recv(fd, data, bytes, MSG_WAITALL), bytes, what);
}

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static socklen_t address_of(union address *a, int family, const char *host)
{
	memset(a, 0, sizeof(*a));
	a->any.sa_family = family;
	check(inet_pton(family, host,
			family == AF_INET ? (void *)&a->four.sin_addr : (void *)&a->six.sin6_addr),
	      1, host);
	return family == AF_INET ? sizeof(a->four) : sizeof(a->six);
}

static int port_of(int fd)
{
	union address a;
	socklen_t length = sizeof(a);

	check(getsockname(fd, &a.any, &length), 0, "getsockname");
	return ntohs(a.any.sa_family == AF_INET ? a.four.sin_port : a.six.sin6_port);
}

/* Makes a connection: fds[0] has asked for it, fds[1] was accepted. */
static void connection(int fds[2], int family, const char *host, int protocol)
{
	int server = socket(family, SOCK_STREAM, protocol);
	union address a;
	socklen_t length = address_of(&a, family, host);

	check(server < 0, 0, "socket");
	check(bind(server, &a.any, length) | listen(server, 1), 0, "listen");
	check(getsockname(server, &a.any, &length), 0, "getsockname");
	fds[0] = socket(family, SOCK_STREAM, protocol);
	check(connect(fds[0], &a.any, length), 0, "connect");
	fds[1] = accept(server, NULL, NULL);
	check(fds[1] < 0, 0, "accept");
	close(server);
}

static void stream(int family, const char *host, int protocol, const char *name, int n)
{
	int fds[2];

	connection(fds, family, host, protocol);
	check(send(fds[0], data, n, 0), n, "send");
	check(write(fds[0], data, n + 1), n + 1, "write");
	fetch(fds[1], n, name);
	check(recv(fds[1], data, 100, MSG_PEEK), 100, "peek");
	check(read(fds[1], data, n + 1), n + 1, "read");
	say(name, "send", 2, 2 * n + 1);
	say(name, "receive", 2, 2 * n + 1);
	say(name, "peek", 1, 100);
	if (family == AF_INET6 && protocol == 0)
		printf("%s peer %d [%s]:%d\n", name, port_of(fds[1]), host, port_of(fds[0]));
}

/* What both sides have closed is received by a socket that has no port any more. */
static void closed(int n)
{
	int fds[2];
	int port;

	connection(fds, AF_INET, "127.0.0.1", 0);
	port = port_of(fds[1]);
	check(send(fds[0], data, n, 0), n, "send");
	fetch(fds[1], n - 1, "before the end");
	shutdown(fds[1], SHUT_WR);
	shutdown(fds[0], SHUT_WR);
	usleep(50000);
	fetch(fds[1], 1, "after the end");
	say("tcp", "send", 1, n);
	say("tcp", "receive", 2, n);
	printf("tcp port %d %d\n", port, n);
}

static void out_by_splice(const int fds[2], const char *name, int n)
{
	check(send(fds[0], data, n, 0), n, "send");
	usleep(20000);
	check(splice(fds[1], NULL, ends[1], NULL, n, 0), n, "splice");
	check(read(ends[0], data, n), n, "read of the pipe");
	say(name, "send", 1, n);
	say(name, "receive", 1, n);
}

/* Into a socket by splice(2) and sendfile(2): the kernel decides in how many calls, so their number is 0 here. */
static void in_by_splice(const int fds[2], const char *name, int n)
{
	int file = open("/proc/self/exe", O_RDONLY);

	check(write(ends[1], data, n), n, "write to the pipe");
	check(splice(ends[0], NULL, fds[0], NULL, n, 0), n, "splice");
	check(sendfile(fds[0], file, NULL, n + 1), n + 1, "sendfile");
	fetch(fds[1], 2 * n + 1, "what was spliced");
	close(file);
	say(name, "send", 0, 2 * n + 1);
	say(name, "receive", 1, 2 * n + 1);
}

static void zero_copy(int n)
{
	struct iovec part = { data, n };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	char control[100];
	struct msghdr told = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct pollfd wait = { .events = 0 };
	int fds[2], on = 1;

	connection(fds, AF_INET, "127.0.0.1", 0);
	check(setsockopt(fds[0], SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)), 0, "SO_ZEROCOPY");
	check(sendmsg(fds[0], &message, MSG_ZEROCOPY), n, "MSG_ZEROCOPY");
	fetch(fds[1], n, "what was sent without a copy");
	wait.fd = fds[0];
	poll(&wait, 1, 1000);
	check(recvmsg(fds[0], &told, MSG_ERRQUEUE) < 0, 0, "MSG_ERRQUEUE");
	say("tcp", "send", 1, n);
	say("tcp", "receive", 1, n);
	say("tcp", "other", 1, 0);
}

static void datagrams(int family, const char *host, const char *sent, const char *got, int n)
{
	int a = socket(family, SOCK_DGRAM, 0), b = socket(strchr(host, '.') ? AF_INET : family, SOCK_DGRAM, 0);
	union address to, own;
	socklen_t length = address_of(&to, family, host);
	socklen_t own_length = address_of(&own, strchr(host, '.') ? AF_INET : family,
					  strchr(host, '.') ? "127.0.0.1" : host);
	struct iovec parts[2] = { { data, n + 2 }, { data, n + 3 } };
	struct mmsghdr both[2] = { { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 1 } },
				   { .msg_hdr = { .msg_iov = parts + 1, .msg_iovlen = 1 } } };
	int i;

	check(bind(b, &own.any, own_length), 0, "bind");
	if (family == AF_INET)
		to.four.sin_port = htons(port_of(b));
	else
		to.six.sin6_port = htons(port_of(b));
	check(sendto(a, data, n, 0, &to.any, length), n, "sendto");
	check(connect(a, &to.any, length), 0, "connect");
	check(send(a, data, n + 1, 0), n + 1, "send");
	check(sendmmsg(a, both, 2, 0), 2, "sendmmsg");
	check(write(ends[1], data, n + 4), n + 4, "write to the pipe");
	check(splice(ends[0], NULL, a, NULL, n + 4, 0), n + 4, "splice");
	for (i = 0; i < 5; i++)
		check(recv(b, data, sizeof(data), 0), n + i, "datagram");
	/* The first send of a socket without a port, the others. */
	say(sent, "send", 1, n);
	say(sent, "send", 4, 4 * n + 10);
	say(got, "receive", 5, 5 * n + 10);
}

static void unix_pairs(int n)
{
	int fds[2];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0, "socketpair");
	check(send(fds[0], data, n, 0), n, "send");
	fetch(fds[1], n, "receive");
	say("unix", "send", 1, n);
	say("unix", "receive", 1, n);
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0, "socketpair");
	out_by_splice(fds, "unix", n + 1);
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0, "socketpair");
	in_by_splice(fds, "unix", n + 2);
	check(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0, "socketpair");
	check(send(fds[0], data, n + 3, 0), n + 3, "send");
	check(recv(fds[1], data, sizeof(data), MSG_PEEK), n + 3, "peek");
	check(recv(fds[1], data, sizeof(data), 0), n + 3, "receive");
	say("unix", "send", 1, n + 3);
	say("unix", "peek", 1, n + 3);
	say("unix", "receive", 1, n + 3);
	check(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0, "socketpair");
	check(send(fds[0], data, n + 4, 0), n + 4, "send");
	check(recv(fds[1], data, sizeof(data), 0), n + 4, "receive");
	say("unix", "send", 1, n + 4);
	say("unix", "receive", 1, n + 4);
}

static void tls(int n)
{
	struct tls12_crypto_info_aes_gcm_128 key = { .info = { TLS_1_2_VERSION, TLS_CIPHER_AES_GCM_128 } };
	int fds[2];

	connection(fds, AF_INET, "127.0.0.1", 0);
	check(setsockopt(fds[0], SOL_TCP, TCP_ULP, "tls", 4) | setsockopt(fds[1], SOL_TCP, TCP_ULP, "tls", 4), 0, "TCP_ULP");
	check(setsockopt(fds[0], SOL_TLS, TLS_TX, &key, sizeof(key)), 0, "TLS_TX");
	check(setsockopt(fds[1], SOL_TLS, TLS_RX, &key, sizeof(key)), 0, "TLS_RX");
	check(send(fds[0], data, n, 0), n, "send by TLS");
	fetch(fds[1], n, "receive by TLS");
	say("tls", "send", 1, n);
	say("tls", "receive", 1, n);
}

int main(int argc, char **argv)
{
	int fds[2];

	check(pipe(ends), 0, "pipe");
	stream(AF_INET, "127.0.0.1", 0, "tcp", 1000);
	stream(AF_INET6, "::1", 0, "tcp", 1100);
	stream(AF_INET, "127.0.0.1", IPPROTO_MPTCP, "mptcp", 1200);
	closed(1300);
	connection(fds, AF_INET, "127.0.0.1", 0);
	out_by_splice(fds, "tcp", 1400);
	connection(fds, AF_INET, "127.0.0.1", 0);
	in_by_splice(fds, "tcp", 1500);
	zero_copy(20000);
	datagrams(AF_INET, "127.0.0.1", "udp", "udp", 200);
	datagrams(AF_INET6, "::1", "udp6", "udp6", 300);
	datagrams(AF_INET6, "::ffff:127.0.0.1", "udp6", "udp", 400);
	unix_pairs(500);
	if (argc > 1 && !strcmp(argv[1], "tls"))
		tls(600);
	return 0;
}
