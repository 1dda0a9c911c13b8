/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hostile SECONDS SEED: does to the recorder what a program can do that means harm: stores anything in the memory of its
 * ring, resizes and punches it, sends what is no request, connects and says nothing, asks for rings and for names without
 * end. Others who are recorded at the same time must not notice.
 */
#include <fkt/user.h>

#include <fcntl.h>
#include <poll.h>

#define CONNECTIONS 400

static unsigned long long state;

static unsigned long long any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int connect_to_recorder(void)
{
	const char *name = getenv(FKT_USER_VARIABLE);
	struct sockaddr_un to;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memset(&to, 0, sizeof(to));
	to.sun_family = AF_UNIX;
	if (!name || fd < 0)
		return fd;
	memcpy(to.sun_path + 1, name, strlen(name));
	if (connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Words that could nearly be events, any words, any head. */
static void scribble(struct fkt_user_ring *ring, __u64 *words, __u64 mask)
{
	for (int i = 0; i < 2000; i++) {
		const unsigned long long r = any();
		__u64 word = r;

		if (r % 3 == 0)
			word = fkt_word(r, (__u32)(FKT_E_USER + r / 3 % 16), (__u32)(r >> 40));
		else if (r % 3 == 1)
			word = fkt_word(r, (__u32)(r / 3 % 4), (__u32)(r >> 40));
		__atomic_store_n(&words[any() & mask], word, __ATOMIC_RELAXED);
	}
	switch (any() % 6) {
	case 0:
		__atomic_store_n(&ring->head, any(), __ATOMIC_RELEASE);
		break;
	case 1:
		__atomic_store_n(&ring->lost, any(), __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n(&ring->tail, any(), __ATOMIC_RELEASE);
		break;
	case 3:
		__atomic_store_n(&ring->gap_from, any(), __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n(&ring->head, ring->tail + any() % (2 * mask), __ATOMIC_RELEASE);
	}
}

/* A thread of its own, so that it has a ring of its own. */
static void *attack_ring(void *unused)
{
	struct fkt_user_ask ask;
	struct fkt_user_answer answer;
	int fd = -1;
	char *at;

	(void)unused;
	memset(&ask, 0, sizeof(ask));
	ask.magic = FKT_USER_MAGIC;
	ask.version = FKT_USER_VERSION;
	ask.request = FKT_USER_ATTACH;
	ask.tid = (__u32)syscall(SYS_gettid);
	if (fkt_user_ask(&ask, FKT_USER_ASK_BYTES, &answer, &fd) || fd < 0)
		return NULL;
	at = mmap(NULL, FKT_USER_HEADER_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED) {
		const __u64 words = ((struct fkt_user_ring *)at)->words;
		const size_t bytes = FKT_USER_HEADER_BYTES + words * sizeof(__u64);

		munmap(at, FKT_USER_HEADER_BYTES);
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		/* A seal forbids the first two: else the recorder would end with SIGBUS. */
		if (!ftruncate(fd, 0) || !ftruncate(fd, (off_t)(2 * bytes)))
			puts("the ring's size could be changed");
		for (int i = 0; at != MAP_FAILED && i < 20; i++) {
			scribble((struct fkt_user_ring *)at, (__u64 *)(at + FKT_USER_HEADER_BYTES), words - 1);
			if (any() % 4 == 0)
				fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
			usleep((useconds_t)(any() % 2000));
		}
		if (at != MAP_FAILED)
			munmap(at, bytes);
	}
	close(fd);
	return NULL;
}

/* What is no request, and names without end. */
static void send_anything(void)
{
	char bytes[sizeof(struct fkt_user_ask) + 64];
	struct fkt_user_ask *ask = (struct fkt_user_ask *)bytes;
	size_t length = any() % sizeof(bytes);
	int fd = connect_to_recorder();

	if (fd < 0)
		return;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)any();
	if (any() % 4) {
		ask->magic = FKT_USER_MAGIC;
		ask->version = FKT_USER_VERSION;
		ask->request = (__u32)(any() % 4);
	}
	if (any() % 2) {
		ask->request = FKT_USER_DEFINE;
		length = FKT_USER_ASK_BYTES +
			 (size_t)snprintf(ask->text, sizeof(ask->text), "p\tn%llu\ta:u:%llu:0:32", any() % 20000, any() % 2000);
	}
	if (send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 && any() % 2)
		recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	close(fd);
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 1);
	int silent[CONNECTIONS];

	state = argc > 2 ? strtoull(argv[2], NULL, 0) * 2654435761U + 1 : 88172645463325252ULL;
	for (int i = 0; i < CONNECTIONS; i++)
		silent[i] = connect_to_recorder();
	while (time(NULL) < end) {
		pthread_t threads[8];
		const int i = (int)(any() % CONNECTIONS);

		for (int t = 0; t < 8; t++)
			pthread_create(&threads[t], NULL, attack_ring, NULL);
		for (int n = 0; n < 50; n++)
			send_anything();
		if (silent[i] >= 0)
			close(silent[i]);
		silent[i] = connect_to_recorder();
		for (int t = 0; t < 8; t++)
			pthread_join(threads[t], NULL);
	}
	return 0;
}
