/* What the parts of the responder share: a client, and what a protocol does with what it says. */
#ifndef RESPONDER_H
#define RESPONDER_H

#include <stddef.h>

struct client {
    int fd;
    int logged_in;
    int nparameters;            /* of the statement last prepared, of PostgreSQL */
    size_t received;            /* bytes in `input` */
    unsigned char input[4096];
};

struct reply {
    size_t length;
    unsigned char bytes[65536];
};

struct protocol {
    void (*store)(void);        /* write down the replies, once */
    void (*greet)(struct reply *);
    /* Answer the first whole request among n bytes: its length; 0 if it is cut off, -1 if it says good-bye. */
    long (*answer)(struct client *, const unsigned char *, size_t n, struct reply *);
};

extern const struct protocol mysql, pgsql;

/* The value in the only column `c` of the only row of every result: as long as column c of sysbench's tables. */
#define VALUE "31451373586-15688153734-79729593694-96509299839-83724898275-86711833539-78981337422-35049690573" \
              "-51724173961-87474696253"
#define VALUE_SIZE (sizeof(VALUE) - 1)

void put_bytes(struct reply *, const void *bytes, size_t n);
void put_reply(struct reply *, const struct reply *);

/* Whether a statement is a SELECT. */
int is_select(const unsigned char *text, size_t n);

#endif
