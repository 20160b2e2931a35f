/* The floor's MySQL: "Client/Server Protocol" of the MySQL source documentation, the binary protocol for statements.
   A user without a password logs in with an empty answer to mysql_native_password. */
#include "floor.h"

#include <stdio.h>
#include <string.h>

enum { HEADER = 4 };
enum { CONNECT_WITH_DB = 0x8, PROTOCOL_41 = 0x200, TRANSACTIONS = 0x2000, SECURE_CONNECTION = 0x8000,
       PLUGIN_AUTH = 0x80000 };

static unsigned char *put(unsigned char *to, uint64_t value, int n)
{
    while (n-- > 0) {
        *to++ = (unsigned char)value;
        value >>= 8;
    }
    return to;
}

static uint32_t get(const unsigned char *p, int n)
{
    return n == 0 ? 0 : p[0] | get(p + 1, n - 1) << 8;
}

/* Walk whole packets: how many of them there are if none is cut off, and how many are EOF packets. */
static int count_packets(const struct session *s, int *eofs)
{
    size_t at = 0, length;
    int n = 0;

    *eofs = 0;
    while (at < s->received) {
        if (s->received - at < HEADER)
            return 0;
        length = get(s->input + at, 3);
        if (s->received - at - HEADER < length || length == 0)
            return 0;
        if (s->input[at + HEADER] == 0xff)
            fail("MySQL answers", length > 9 ? (const char *)s->input + at + HEADER + 9 : "an error");
        *eofs += s->input[at + HEADER] == 0xfe;
        at += HEADER + length;
        n++;
    }
    return n;
}

static int is_one_packet(const struct session *s)
{
    int eofs;

    return count_packets(s, &eofs) == 1;
}

/* Definitions of parameters and columns end in an EOF packet each, and so do columns and rows. The first byte of
   definitions (3, a length), of binary rows (0) and of the head is another. */
static int is_whole(const struct session *s)
{
    int eofs;

    return count_packets(s, &eofs) > 2 && eofs == 2;
}

static size_t put_header(struct session *s, const unsigned char *end, int sequence)
{
    put(put(s->output, end - s->output - HEADER, 3), sequence, 1);
    return end - s->output;
}

static void log_in(struct session *s, const char *user, const char *database)
{
    static const char plugin[] = "mysql_native_password";
    unsigned char *to = s->output + HEADER;

    ask(s, 0, is_one_packet);
    to = put(to, CONNECT_WITH_DB | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH, 4);
    to = put(put(to, 1 << 24, 4), 45, 1);                   /* longest packet, utf8mb4 */
    memset(to, 0, 23);
    to += 23;
    to += sprintf((char *)to, "%.80s", user) + 1;
    to = put(to, 0, 1);                                     /* no bytes of a password */
    to += sprintf((char *)to, "%.80s", database) + 1;
    to += sprintf((char *)to, "%s", plugin) + 1;
    ask(s, put_header(s, to, 1), is_one_packet);
    if (s->input[HEADER] != 0)
        fail("MySQL login", "the server asks for more than an empty password");
}

static void prepare(struct session *s, int table)
{
    unsigned char *to = put(s->output + HEADER, 0x16, 1);

    to += sprintf((char *)to, "SELECT c FROM sbtest%d WHERE id=?", table + 1);
    ask(s, put_header(s, to, 0), is_whole);
    s->statements[table] = get(s->input + HEADER + 1, 4);
}

static size_t put_select(struct session *s, int table, int64_t id)
{
    unsigned char *to = put(s->output + HEADER, 0x17, 1);

    to = put(put(put(to, s->statements[table], 4), 0, 1), 1, 4);    /* no cursor, once */
    to = put(put(to, 0, 1), 1, 1);                                  /* no NULL, types follow */
    to = put(put(to, 8, 2), (uint64_t)id, 8);                       /* BIGINT */
    return put_header(s, to, 0);
}

const struct protocol mysql = {log_in, prepare, put_select, is_whole};
