/* The floor: the least that a client of so many connections can do, each served by a thread of its own, or all by
   a few.

       floor mysql|pgsql HOST PORT USER DATABASE THREADS SECONDS TABLES ROWS [CARRIERS]
       floor empty THREADS SECONDS

   The first form prepares `SELECT c FROM sbtestN WHERE id = ?` for each table on each connection, and executes these
   in a bare loop: a random table, a random row, one send, receive until the reply is whole. There is no script, no
   statistics, no clock. A HOST with a slash is the path of a socket. With CARRIERS, so many threads serve all connections,
   by epoll: whichever has a reply gets its next request. The second form reads the clock twice an event,
   which is what measuring its latency costs at least. */
#include "floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct worker {
    pthread_t thread;
    uint64_t random;
    uint64_t done;
    int connections;
};

static const struct protocol *protocol;     /* NULL: empty events */
static const char *host, *user, *database;
static int port, tables, rows;
static pthread_barrier_t ready;
static atomic_bool stop;

void fail(const char *what, const char *why)
{
    fprintf(stderr, "floor: %s: %s\n", what, why);
    exit(1);
}

static int open_socket(void)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in remote = {.sin_family = AF_INET, .sin_port = htons(port)};
    int is_local = strchr(host, '/') != NULL, one = 1;
    int fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

    if (fd < 0)
        fail("socket", strerror(errno));
    if (is_local) {
        snprintf(local.sun_path, sizeof(local.sun_path), "%s", host);
        if (connect(fd, (struct sockaddr *)&local, sizeof(local)) != 0)
            fail(host, strerror(errno));
    } else {
        if (inet_pton(AF_INET, host, &remote.sin_addr) != 1)
            fail(host, "neither an IPv4 address nor a path");
        if (connect(fd, (struct sockaddr *)&remote, sizeof(remote)) != 0)
            fail(host, strerror(errno));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    return fd;
}

static void say(struct session *s, size_t n)
{
    if (n > 0 && send(s->fd, s->output, n, MSG_NOSIGNAL) != (ssize_t)n)
        fail("send", strerror(errno));
    s->received = 0;
}

static void hear(struct session *s)
{
    ssize_t got = recv(s->fd, s->input + s->received, sizeof(s->input) - 1 - s->received, 0);

    if (got <= 0)
        fail("recv", got < 0 ? strerror(errno) : "the server has closed, or sends too much");
    s->received += got;
    s->input[s->received] = 0;      /* the end of an error's text */
}

void ask(struct session *s, size_t n, int (*is_whole)(const struct session *))
{
    say(s, n);
    do {
        hear(s);
    } while (!is_whole(s));
}

/* xorshift64: George Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003. */
static uint64_t draw(struct worker *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

static struct session *open_session(void)
{
    struct session *s = malloc(sizeof(*s));

    if (s == NULL)
        fail("malloc", strerror(errno));
    s->fd = open_socket();
    protocol->log_in(s, user, database);
    for (int table = 0; table < tables; table++)
        protocol->prepare(s, table);
    return s;
}

static size_t put_select(struct session *s, struct worker *w)
{
    uint64_t random = draw(w);

    return protocol->put_select(s, (random >> 32) % tables, 1 + (random & 0xffffffff) % rows);
}

static void *select_points(void *argument)
{
    struct worker *w = argument;
    struct session *s = open_session();
    uint64_t done = 0;

    pthread_barrier_wait(&ready);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        ask(s, put_select(s, w), protocol->is_whole);
        done++;
    }
    w->done = done;
    close(s->fd);
    free(s);
    return NULL;
}

static void *select_points_in_turn(void *argument)
{
    struct worker *w = argument;
    struct epoll_event event = {.events = EPOLLIN}, events[256];
    struct session *all[w->connections], *s;
    uint64_t done = 0;
    int epoll = epoll_create1(0), n;

    for (int i = 0; i < w->connections; i++) {
        event.data.ptr = all[i] = open_session();
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, all[i]->fd, &event) != 0)
            fail("epoll_ctl", strerror(errno));
    }
    pthread_barrier_wait(&ready);
    for (int i = 0; i < w->connections; i++)
        say(all[i], put_select(all[i], w));
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        n = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < n; i++) {
            s = events[i].data.ptr;
            hear(s);
            if (protocol->is_whole(s)) {
                done++;
                say(s, put_select(s, w));
            }
        }
    }
    w->done = done;
    return NULL;
}

static void *read_clock(void *argument)
{
    struct worker *w = argument;
    struct timespec begin, end;
    uint64_t done = 0;

    pthread_barrier_wait(&ready);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        clock_gettime(CLOCK_MONOTONIC, &end);
        done++;
    }
    w->done = done;
    return NULL;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void run(int threads, unsigned seconds, int carriers)
{
    void *(*work)(void *) = carriers ? select_points_in_turn : protocol ? select_points : read_clock;
    int connections = carriers ? threads / carriers : 1;
    struct worker *workers = calloc(threads, sizeof(*workers));
    uint64_t done = 0;
    double begin_s;
    int rc;

    if (workers == NULL)
        fail("calloc", strerror(errno));
    if (carriers)
        threads = carriers;
    pthread_barrier_init(&ready, NULL, threads + 1);
    for (int i = 0; i < threads; i++) {
        workers[i].random = 0x9e3779b97f4a7c15 * (i + 1);
        workers[i].connections = connections;
        rc = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (rc != 0)
            fail("pthread_create", strerror(rc));
    }
    pthread_barrier_wait(&ready);
    begin_s = now_s();
    sleep(seconds);
    atomic_store(&stop, 1);
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        done += workers[i].done;
    }
    printf("%s: %llu\nseconds: %.6f\n", protocol ? "queries" : "events", (unsigned long long)done, now_s() - begin_s);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "empty") == 0) {
        run(atoi(argv[2]), atoi(argv[3]), 0);
        return 0;
    }
    if ((argc == 10 || argc == 11) && strcmp(argv[1], "mysql") == 0)
        protocol = &mysql;
    else if ((argc == 10 || argc == 11) && strcmp(argv[1], "pgsql") == 0)
        protocol = &pgsql;
    else
        fail("arguments", "see the head of floor.c");
    host = argv[2];
    port = atoi(argv[3]);
    user = argv[4];
    database = argv[5];
    tables = atoi(argv[8]);
    rows = atoi(argv[9]);
    if (tables < 1 || tables > MAX_TABLES || rows < 1)
        fail("arguments", "1 to 64 tables, and at least one row");
    run(atoi(argv[6]), atoi(argv[7]), argc == 11 ? atoi(argv[10]) : 0);
    return 0;
}
