/* The responder's MySQL: "Client/Server Protocol" of the MySQL source documentation. It offers the least that today's
   clients ask for: definitions end in EOF packets, and any answer to mysql_native_password is right. */
#include "responder.h"

#include <string.h>

enum { HEADER = 4 };
enum { QUIT = 1, QUERY = 3, PREPARE = 0x16, EXECUTE = 0x17, LONG_DATA = 0x18, CLOSE = 0x19 };
enum { CAPABILITIES = 0x1           /* LONG_PASSWORD */
                      | 0x8         /* CONNECT_WITH_DB */
                      | 0x200       /* PROTOCOL_41 */
                      | 0x2000      /* TRANSACTIONS */
                      | 0x8000      /* SECURE_CONNECTION */
                      | 0x70000     /* MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS */
                      | 0x80000     /* PLUGIN_AUTH */ };

static struct reply greeting, ok, login_ok, text_row, binary_row;
static unsigned char definition[64];
static size_t definition_size;
static const unsigned char eof[] = {0xfe, 0, 0, 2, 0};

static void put_packet(struct reply *reply, int sequence, const void *payload, size_t n)
{
    unsigned char header[HEADER] = {n & 0xff, n >> 8 & 0xff, n >> 16 & 0xff, sequence};

    put_bytes(reply, header, HEADER);
    put_bytes(reply, payload, n);
}

/* "Column Definition": six names, then 12 bytes: character set, display width, type, flags, decimals. */
static void store_definition(void)
{
    static const char names[] = "\3def\6sbtest\7sbtest1\7sbtest1\1c\1c";
    static const unsigned char rest[] = {0x0c, 45, 0, 0xe0, 1, 0, 0, 254, 0, 0, 0, 0, 0};

    memcpy(definition, names, sizeof(names) - 1);
    memcpy(definition + sizeof(names) - 1, rest, sizeof(rest));
    definition_size = sizeof(names) - 1 + sizeof(rest);
}

/* A result set; rows of prepared statements begin with a zero and a byte that tells NULLs. */
static void store_row(struct reply *reply, int is_binary)
{
    unsigned char row[3 + VALUE_SIZE] = {0, 0};
    unsigned char *value = row + (is_binary ? 2 : 0);

    value[0] = VALUE_SIZE;
    memcpy(value + 1, VALUE, VALUE_SIZE);
    put_packet(reply, 1, "\1", 1);
    put_packet(reply, 2, definition, definition_size);
    put_packet(reply, 3, eof, sizeof(eof));
    put_packet(reply, 4, row, value + 1 + VALUE_SIZE - row);
    put_packet(reply, 5, eof, sizeof(eof));
}

static void store_greeting(void)
{
    static const char version[] = "\12" "8.0.0-responder";      /* protocol 10 */
    static const char plugin[] = "mysql_native_password";
    unsigned char middle[] = {1, 0, 0, 0, '1', '2', '3', '4', '5', '6', '7', '8', 0,
                              CAPABILITIES & 0xff, CAPABILITIES >> 8 & 0xff, 45, 2, 0,
                              CAPABILITIES >> 16 & 0xff, CAPABILITIES >> 24 & 0xff, 21,
                              0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                              '9', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '0', 0};
    unsigned char payload[sizeof(version) + sizeof(middle) + sizeof(plugin)];

    memcpy(payload, version, sizeof(version));
    memcpy(payload + sizeof(version), middle, sizeof(middle));
    memcpy(payload + sizeof(version) + sizeof(middle), plugin, sizeof(plugin));
    put_packet(&greeting, 0, payload, sizeof(payload));
}

static void store(void)
{
    static const unsigned char fine[] = {0, 0, 0, 2, 0, 0, 0};

    put_packet(&ok, 1, fine, sizeof(fine));
    put_packet(&login_ok, 2, fine, sizeof(fine));
    store_definition();
    store_row(&text_row, 0);
    store_row(&binary_row, 1);
    store_greeting();
}

static void greet(struct reply *reply)
{
    put_reply(reply, &greeting);
}

/* One column, and as many parameters as the text has question marks. */
static void answer_prepare(const unsigned char *text, size_t n, struct reply *reply)
{
    unsigned char head[] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    int sequence = 1, nparameters = 0;

    while (n-- > 0)
        nparameters += *text++ == '?';
    head[7] = nparameters & 0xff;
    head[8] = nparameters >> 8;
    put_packet(reply, sequence++, head, sizeof(head));
    if (nparameters > 0) {
        for (int i = 0; i < nparameters; i++)
            put_packet(reply, sequence++, definition, definition_size);
        put_packet(reply, sequence++, eof, sizeof(eof));
    }
    put_packet(reply, sequence++, definition, definition_size);
    put_packet(reply, sequence, eof, sizeof(eof));
}

static long answer(struct client *client, const unsigned char *p, size_t n, struct reply *reply)
{
    size_t length;

    if (n < HEADER + 1)
        return 0;
    length = p[0] | p[1] << 8 | (size_t)p[2] << 16;
    if (n - HEADER < length)
        return 0;
    if (!client->logged_in) {
        client->logged_in = 1;
        put_reply(reply, &login_ok);
    } else if (p[HEADER] == QUIT) {
        return -1;
    } else if (p[HEADER] == EXECUTE) {
        put_reply(reply, &binary_row);
    } else if (p[HEADER] == PREPARE) {
        answer_prepare(p + HEADER + 1, length - 1, reply);
    } else if (p[HEADER] == QUERY && is_select(p + HEADER + 1, length - 1)) {
        put_reply(reply, &text_row);
    } else if (p[HEADER] != CLOSE && p[HEADER] != LONG_DATA) {
        put_reply(reply, &ok);
    }
    return HEADER + length;
}

const struct protocol mysql = {store, greet, answer};
