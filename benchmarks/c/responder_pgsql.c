/* The responder's PostgreSQL: "Frontend/Backend Protocol" of the PostgreSQL manual, version 3.0. It refuses TLS, and
   lets in without asking for a password. */
#include "responder.h"

#include <string.h>

enum { HEADER = 5, TLS_REQUEST = 80877103, GSS_REQUEST = 80877104, PROTOCOL_3 = 3 << 16, OID_INT8 = 20 };

static struct reply welcome, row, text_row, text_ok, columns;
static const unsigned char ready[] = {'Z', 0, 0, 0, 5, 'I'};

static size_t get_be32(const unsigned char *p)
{
    return (size_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static void put_message(struct reply *reply, char type, const void *contents, size_t n)
{
    unsigned char header[HEADER] = {type, 0, (n + 4) >> 16 & 0xff, (n + 4) >> 8 & 0xff, (n + 4) & 0xff};

    put_bytes(reply, header, HEADER);
    put_bytes(reply, contents, n);
}

/* What clients want to know of the session: libpq reads versions and encodings from it. */
static void store_welcome(void)
{
    static const char parameters[][48] = {
        "server_version\0" "15.0", "server_encoding\0UTF8", "client_encoding\0UTF8",
        "DateStyle\0ISO, MDY", "integer_datetimes\0on", "standard_conforming_strings\0on"};

    put_message(&welcome, 'R', "\0\0\0", 4);
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        const char *name = parameters[i], *value = name + strlen(name) + 1;
        put_message(&welcome, 'S', name, value + strlen(value) + 1 - name);
    }
    put_message(&welcome, 'K', "\0\0\0\0\0\0\0", 8);
    put_bytes(&welcome, ready, sizeof(ready));
}

static void store(void)
{
    /* One column: name, no table, type bpchar of 120 characters, as text. */
    static const unsigned char description[] = {0, 1, 'c', 0, 0, 0, 0, 0, 0, 0,
                                                0, 0, 4, 18, 0xff, 0xff, 0, 0, 0, 124, 0, 0};
    unsigned char value[6 + VALUE_SIZE] = {0, 1, 0, 0, 0, VALUE_SIZE};

    store_welcome();
    put_message(&columns, 'T', description, sizeof(description));
    memcpy(value + 6, VALUE, VALUE_SIZE);
    put_message(&row, 'D', value, sizeof(value));
    put_message(&row, 'C', "SELECT 1", 9);
    put_reply(&text_row, &columns);
    put_reply(&text_row, &row);
    put_bytes(&text_row, ready, sizeof(ready));
    put_message(&text_ok, 'C', "SET", 4);
    put_bytes(&text_ok, ready, sizeof(ready));
}

static void greet(struct reply *reply)
{
    (void)reply;        /* the client speaks first */
}

static long answer_startup(struct client *client, const unsigned char *p, size_t n, struct reply *reply)
{
    size_t length, code;

    if (n < 8 || n < (length = get_be32(p)))
        return 0;
    code = get_be32(p + 4);
    if (code == TLS_REQUEST || code == GSS_REQUEST) {
        put_bytes(reply, "N", 1);
    } else if (code == PROTOCOL_3) {
        client->logged_in = 1;
        put_reply(reply, &welcome);
    } else {
        return -1;
    }
    return (long)length;
}

/* Parse: name, text, number of parameters whose types follow. */
static int count_parameters(const unsigned char *contents)
{
    const unsigned char *text = contents + strlen((const char *)contents) + 1;
    const unsigned char *count = text + strlen((const char *)text) + 1;

    return count[0] << 8 | count[1];
}

static void answer_describe(const struct client *client, int is_statement, struct reply *reply)
{
    unsigned char types[2 + 4 * 64] = {0, client->nparameters};

    if (is_statement) {
        for (int i = 0; i < client->nparameters; i++)
            types[2 + 4 * i + 3] = OID_INT8;
        put_message(reply, 't', types, 2 + 4 * client->nparameters);
    }
    put_reply(reply, &columns);
}

static long answer(struct client *client, const unsigned char *p, size_t n, struct reply *reply)
{
    size_t length;

    if (!client->logged_in)
        return answer_startup(client, p, n, reply);
    if (n < HEADER || n < (length = 1 + get_be32(p + 1)))
        return 0;
    switch (p[0]) {
    case 'X':
        return -1;
    case 'Q':
        put_reply(reply, is_select(p + HEADER, length - HEADER) ? &text_row : &text_ok);
        break;
    case 'P':
        client->nparameters = count_parameters(p + HEADER);
        if (client->nparameters > 64)
            return -1;
        put_message(reply, '1', "", 0);
        break;
    case 'D':
        answer_describe(client, p[HEADER] == 'S', reply);
        break;
    case 'B':
        put_message(reply, '2', "", 0);
        break;
    case 'E':
        put_reply(reply, &row);
        break;
    case 'C':
        put_message(reply, '3', "", 0);
        break;
    case 'S':
        put_bytes(reply, ready, sizeof(ready));
        break;
    }
    return (long)length;
}

const struct protocol pgsql = {store, greet, answer};
