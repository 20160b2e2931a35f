/* The responder: a server that does no work, so that a load generator beside it is the limit.

       responder mysql|pgsql

   It listens on a free TCP port of 127.0.0.1, prints `port N`, lets everybody in, and answers each request with a
   reply that it stored at its start: a SELECT, and every execution of a prepared statement, with one row of one
   column; any other text with OK. It is one thread in an epoll loop, and ends with its parent. */
#include "responder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_EVENTS = 256, BACKLOG = 4096 };

static const struct protocol *protocol;
static int epoll;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "responder: %s: %s\n", what, why);
    exit(1);
}

void put_bytes(struct reply *reply, const void *bytes, size_t n)
{
    if (n > sizeof(reply->bytes) - reply->length)
        fail("reply", "too long");
    memcpy(reply->bytes + reply->length, bytes, n);
    reply->length += n;
}

void put_reply(struct reply *reply, const struct reply *more)
{
    put_bytes(reply, more->bytes, more->length);
}

int is_select(const unsigned char *text, size_t n)
{
    return n >= 6 && strncasecmp((const char *)text, "SELECT", 6) == 0;
}

static int listen_on_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, BACKLOG) != 0
        || getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        fail("listen", strerror(errno));
    printf("port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void watch(int fd, struct client *client)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};

    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("epoll_ctl", strerror(errno));
}

static void leave(struct client *client)
{
    close(client->fd);
    free(client);
}

/* A client that does not take its reply, a few hundred bytes, is not waited for. */
static int is_sent(const struct client *client, const struct reply *reply)
{
    return reply->length == 0
           || send(client->fd, reply->bytes, reply->length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)reply->length;
}

static void welcome(int listener)
{
    static struct reply reply;
    struct client *client = malloc(sizeof(*client));
    int one = 1;

    if (client == NULL)
        fail("malloc", strerror(errno));
    client->fd = accept(listener, NULL, NULL);
    if (client->fd < 0)
        fail("accept", strerror(errno));
    client->logged_in = client->nparameters = 0;
    client->received = 0;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    watch(client->fd, client);
    reply.length = 0;
    protocol->greet(&reply);
    if (!is_sent(client, &reply))
        leave(client);
}

static void serve(struct client *client)
{
    static struct reply reply;
    ssize_t got = recv(client->fd, client->input + client->received, sizeof(client->input) - client->received,
                       MSG_DONTWAIT);
    size_t at = 0;
    long n;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        leave(client);
        return;
    }
    client->received += got;
    reply.length = 0;
    while ((n = protocol->answer(client, client->input + at, client->received - at, &reply)) > 0)
        at += n;
    if (n < 0 || !is_sent(client, &reply)) {
        leave(client);
        return;
    }
    client->received -= at;
    if (client->received == sizeof(client->input))
        fail("request", "too long");
    memmove(client->input, client->input + at, client->received);
}

int main(int argc, char **argv)
{
    struct epoll_event events[MAX_EVENTS];
    struct rlimit files;
    int listener, n;

    if (argc == 2 && strcmp(argv[1], "mysql") == 0)
        protocol = &mysql;
    else if (argc == 2 && strcmp(argv[1], "pgsql") == 0)
        protocol = &pgsql;
    else
        fail("arguments", "mysql or pgsql");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    protocol->store();
    epoll = epoll_create1(0);
    listener = listen_on_free_port();
    watch(listener, NULL);
    for (;;) {
        n = epoll_wait(epoll, events, MAX_EVENTS, -1);
        if (n < 0 && errno != EINTR)
            fail("epoll_wait", strerror(errno));
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == NULL)
                welcome(listener);
            else
                serve(events[i].data.ptr);
        }
    }
}
