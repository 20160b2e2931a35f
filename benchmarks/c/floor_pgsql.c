/* The floor's PostgreSQL: "Frontend/Backend Protocol" of the PostgreSQL manual, version 3.0, the extended query.
   The server must let the user in without a password (trust). The parameter is a binary int8. */
#include "floor.h"

#include <stdio.h>
#include <string.h>

enum { OID_INT8 = 20 };

static unsigned char *put(unsigned char *to, uint64_t value, int n)
{
    while (n-- > 0)
        *to++ = (unsigned char)(value >> 8 * n);
    return to;
}

static uint32_t get_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

/* A message's length counts itself, and not the type before it. */
static unsigned char *end_message(unsigned char *message, unsigned char *end)
{
    put(message + 1, end - message - 1, 4);
    return end;
}

static unsigned char *put_sync(unsigned char *to)
{
    *to = 'S';
    return end_message(to, to + 5);
}

/* Fields of an error are a letter and a string each; M is the message. */
static const char *message_of(const unsigned char *fields)
{
    while (*fields != 0 && *fields != 'M')
        fields += strlen((const char *)fields) + 1;
    return *fields == 'M' ? (const char *)fields + 1 : "an error";
}

/* Each reply ends in ReadyForQuery. */
static int is_whole(const struct session *s)
{
    size_t at = 0;
    char last = 0;

    while (s->received - at >= 5 && s->received - at > get_be32(s->input + at + 1)) {
        last = s->input[at];
        if (last == 'E')
            fail("PostgreSQL answers", message_of(s->input + at + 5));
        if (last == 'R' && get_be32(s->input + at + 5) != 0)
            fail("PostgreSQL login", "the server asks for a password");
        at += 1 + get_be32(s->input + at + 1);
    }
    return at == s->received && last == 'Z';
}

static void log_in(struct session *s, const char *user, const char *database)
{
    unsigned char *to = put(s->output + 4, 3 << 16, 4);

    to += sprintf((char *)to, "user%c%.80s%cdatabase%c%.80s", 0, user, 0, 0, database) + 1;
    to = put(to, 0, 1);
    put(s->output, to - s->output, 4);
    ask(s, to - s->output, is_whole);
}

static void prepare(struct session *s, int table)
{
    unsigned char *to = s->output + 5;

    s->output[0] = 'P';
    to += sprintf((char *)to, "s%d%cSELECT c FROM sbtest%d WHERE id=$1", table, 0, table + 1) + 1;
    to = end_message(s->output, put(put(to, 1, 2), OID_INT8, 4));
    ask(s, put_sync(to) - s->output, is_whole);
}

static size_t put_select(struct session *s, int table, int64_t id)
{
    unsigned char *message = s->output, *to = message + 5;

    *message = 'B';
    *to++ = 0;                                                      /* the portal without a name */
    *to++ = 's';
    if (table >= 10)
        *to++ = (unsigned char)('0' + table / 10);
    *to++ = (unsigned char)('0' + table % 10);
    *to++ = 0;
    to = put(put(put(put(put(to, 1, 2), 1, 2), 1, 2), 8, 4), (uint64_t)id, 8);      /* one binary value of 8 bytes */
    message = end_message(message, put(to, 0, 2));                  /* all results are text */
    *message = 'E';
    message = end_message(message, put(message + 5, 0, 5));         /* of that portal, all rows */
    return put_sync(message) - s->output;
}

const struct protocol pgsql = {log_in, prepare, put_select, is_whole};
