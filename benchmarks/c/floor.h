/* What the parts of the floor share: a session on one socket, and what a protocol does with it. */
#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_TABLES 64

struct session {
    int fd;
    size_t received;                    /* bytes of the reply in `input` */
    unsigned char input[65536];
    unsigned char output[1024];
    uint32_t statements[MAX_TABLES];    /* numbers on the server, of MySQL */
};

struct protocol {
    void (*log_in)(struct session *, const char *user, const char *database);
    void (*prepare)(struct session *, int table);                       /* tables count from 0 */
    size_t (*put_select)(struct session *, int table, int64_t id);      /* into `output`; its length */
    int (*is_whole)(const struct session *);    /* whether all of the reply has come; ends the program on an error */
};

extern const struct protocol mysql, pgsql;

/* Send n bytes of `output`, and receive until the reply is whole. */
void ask(struct session *, size_t n, int (*is_whole)(const struct session *));

_Noreturn void fail(const char *what, const char *why);

#endif
