/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The switch's end of a vhost-user socket, with queue pairs but without a data path:
 * enough for QEMU to start. `vhost-peer listen|connect SOCKET QUEUES` serves until
 * killed.
 *
 * Message numbers and feature bits: QEMU, docs/interop/vhost-user.rst.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum request {
	GET_FEATURES = 1,
	SET_LOG_BASE = 6,
	GET_VRING_BASE = 11,
	GET_PROTOCOL_FEATURES = 15,
	GET_QUEUE_NUM = 17,
};

enum { PROTOCOL = 1, REPLY = 4, PAYLOAD_MAX = 4096, DESCRIPTORS_MAX = 16 };

/* Mergeable buffers, control queue, multiqueue, logging, protocol features, virtio 1. */
#define FEATURES \
	(1ull << 15 | 1ull << 17 | 1ull << 22 | 1ull << 26 | 1ull << 30 | 1ull << 32)
#define PROTOCOL_FEATURES 3ull /* multiqueue, a log of dirty pages: it can be saved */

struct message {
	uint32_t request, flags, size;
	unsigned char payload[PAYLOAD_MAX];
} __attribute__((packed));

enum { HEADER = offsetof(struct message, payload) };

static bool read_all(int fd, void *data, size_t size)
{
	for (char *at = data; size;) {
		ssize_t got = read(fd, at, size);

		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

/* The header comes with descriptors (memory, kicks), which nobody here needs. */
static bool read_header(int fd, struct message *message)
{
	char room[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
	struct iovec part = { message, HEADER };
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = room,
				 .msg_controllen = sizeof(room) };

	if (recvmsg(fd, &header, 0) != (ssize_t)HEADER)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len;
		     at += sizeof(int)) {
			int passed;

			memcpy(&passed, (char *)c + at, sizeof(passed));
			close(passed);
		}
	return true;
}

static bool answer(int fd, struct message *message, uint64_t value)
{
	message->flags = PROTOCOL | REPLY;
	message->size = sizeof(value);
	memcpy(message->payload, &value, sizeof(value));
	return write(fd, message, HEADER + sizeof(value)) > 0;
}

static bool serve_one(int fd, uint64_t queues)
{
	struct message message;

	if (!read_header(fd, &message) || message.size > PAYLOAD_MAX ||
	    !read_all(fd, message.payload, message.size))
		return false;
	switch (message.request) {
	case GET_FEATURES:
		return answer(fd, &message, FEATURES);
	case GET_PROTOCOL_FEATURES:
		return answer(fd, &message, PROTOCOL_FEATURES);
	case GET_QUEUE_NUM:
		return answer(fd, &message, queues);
	case SET_LOG_BASE:
		message.size = 0;
		__attribute__((fallthrough));
	case GET_VRING_BASE: /* the index stands in the upper half: never moved */
		message.flags = PROTOCOL | REPLY;
		return write(fd, &message, HEADER + message.size) > 0;
	default:
		return true;
	}
}

static int connect_patiently(int fd, const struct sockaddr_un *address)
{
	while (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
		if (errno != ENOENT && errno != ECONNREFUSED)
			return -1;
		usleep(20000);
	}
	return dup(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool listens;

	if (argc != 4 || strlen(argv[2]) >= sizeof(address.sun_path) || fd < 0)
		return 2;
	memcpy(address.sun_path, argv[2], strlen(argv[2]));
	listens = !strcmp(argv[1], "listen");
	if (listens && (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
			listen(fd, 1) < 0)) {
		perror(argv[2]);
		return 1;
	}
	for (;;) {
		int peer = listens ? accept(fd, NULL, NULL)
				   : connect_patiently(fd, &address);

		if (peer < 0) {
			perror(argv[2]);
			return 1;
		}
		while (serve_one(peer, strtoull(argv[3], NULL, 10)))
			;
		close(peer);
		if (!listens)
			return 0;
	}
}
