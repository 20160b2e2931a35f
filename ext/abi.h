/* Every function and struct that Lua may call. Read by the C compiler and, as it stands, by
   LuaJIT's ffi.cdef: no preprocessor lines here. SPDX-License-Identifier: GPL-2.0-or-later */

typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;

typedef enum {
  SB_ARG_TYPE_NULL, SB_ARG_TYPE_BOOL, SB_ARG_TYPE_INT, SB_ARG_TYPE_SIZE, SB_ARG_TYPE_DOUBLE,
  SB_ARG_TYPE_STRING, SB_ARG_TYPE_LIST, SB_ARG_TYPE_FILE, SB_ARG_TYPE_MAX
} sb_arg_type;

/* An option of the script: value is its default as text, NULL without one. */
typedef struct {
  const char *name;
  const char *desc;
  const char *value;
  int type;                     /* sb_arg_type */
} sb_arg;

int sb_lua_set_test_args(const sb_arg *args, size_t n);
void sb_print_test_options(void);

typedef enum { DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL } sql_error_class;

typedef enum {
  SQL_TYPE_NONE, SQL_TYPE_TINYINT, SQL_TYPE_SMALLINT, SQL_TYPE_INT, SQL_TYPE_BIGINT,
  SQL_TYPE_FLOAT, SQL_TYPE_DOUBLE, SQL_TYPE_TIME, SQL_TYPE_DATE, SQL_TYPE_DATETIME,
  SQL_TYPE_TIMESTAMP, SQL_TYPE_CHAR, SQL_TYPE_VARCHAR
} sql_bind_type;

/* Messages: priority 0 FATAL, 1 ALERT, 2 WARNING, 3 NOTICE, 4 INFO, 5 DEBUG. */
void sb_log(int priority, const char *text);
void sb_print(const char *text);
bool sb_json_element(void);

/* The event loop. A thread id is 0 .. threads-1 in workers. */
bool sb_worker_ready(int thread_id);
bool sb_more_events(int thread_id);
void sb_event_start(int thread_id);
void sb_event_stop(int thread_id);
bool sb_event_next(int thread_id);
int sb_event_next_at_once(int thread_id);
void sb_event_cancel(int thread_id);
bool sb_event_may_restart(int thread_id);
void sb_run_fail(void);
bool sb_run_exit(int status);
int sb_running_worker(void);
void sb_worker_done(int thread_id);

/* The threads of a parallel command. */
bool sb_team_meet(void);
int64_t sb_team_next(int64_t n);
void sb_team_leave(bool ok);

void sb_counter_inc(int thread_id, sb_counter_type counter);
void sb_counter_add(int thread_id, sb_counter_type counter, uint64_t n);
uint64_t sb_counter_val(int thread_id, sb_counter_type counter);

/* Random numbers of the calling thread. */
uint64_t sb_rand_uniform_uint64(void);
double sb_rand_uniform_double(void);
uint32_t sb_rand_default(uint32_t a, uint32_t b);
uint32_t sb_rand_uniform(uint32_t a, uint32_t b);
uint32_t sb_rand_gaussian(uint32_t a, uint32_t b);
uint32_t sb_rand_special(uint32_t a, uint32_t b);
uint32_t sb_rand_pareto(uint32_t a, uint32_t b);
uint32_t sb_rand_zipfian(uint32_t a, uint32_t b);
uint32_t sb_rand_unique(void);
void sb_rand_seed(uint64_t seed, uint64_t stream, uint64_t part);
uint64_t sb_sequence_next(void);
void sb_rand_str(const char *format, char *buffer);
uint32_t sb_rand_varstr(char *buffer, uint32_t min_len, uint32_t max_len);

/* The histogram of logarithmic buckets behind sysbench.histogram. */
typedef struct sb_histogram sb_histogram;
sb_histogram *sb_histogram_new(size_t size, double range_min, double range_max);
void sb_histogram_update(sb_histogram *h, double value);
void sb_histogram_print(sb_histogram *h);
void sb_histogram_delete(sb_histogram *h);

/* SQL. Memory of all objects belongs to the core. */
typedef struct {
  const char *name_of_dialect;  /* what drv:name() tells: how scripts shall speak */
} sql_driver;

typedef struct {
  int error;                    /* sql_error_class of the last operation */
  int sql_errno;
  const char *sql_state;        /* NULL without one */
  const char *sql_errmsg;
  sql_driver *driver;
  int thread_id;
} sql_connection;

typedef struct {
  sql_connection *connection;
  int nparams;
} sql_statement;

typedef struct {
  int type;                     /* sql_bind_type: BIGINT, DOUBLE or VARCHAR */
  void *buffer;                 /* int64_t, double or max_len bytes */
  uint32_t data_len;
  uint32_t max_len;
  bool is_null;
} sql_param;

typedef struct {
  int counter;                  /* sb_counter_type: how the statement was counted */
  uint32_t nrows;
  uint32_t nfields;
  sql_statement *statement;     /* NULL for a text query */
} sql_result;

typedef struct {
  const char *buffer;           /* NULL stands for SQL NULL */
  size_t length;
} sql_value;

typedef struct {
  const sql_value *values;      /* nfields of the result */
} sql_row;

/* What all states share, as its length and then so many bytes, or NULL: parts of internal Lua, and byte code of
   scripts. */
const size_t *sb_stored(const char *name);
const size_t *sb_stored_script(const char *path);
void sb_store_script(const char *path, const char *code, size_t length);

sql_driver *db_create(const char *name);
sql_connection *db_connection_create(sql_driver *driver, int thread_id);
int db_connection_reconnect(sql_connection *con);
int db_connection_settle(sql_connection *con);
int db_connection_close(sql_connection *con);
void db_connection_release(sql_connection *con);
sql_result *db_query(sql_connection *con, const char *query, size_t length);
sql_result *db_no_result(void);
bool db_more_results(sql_connection *con);
sql_result *db_next_result(sql_connection *con);
sql_row *db_fetch_row(sql_result *rs);
int db_free_results(sql_result *rs);
sql_statement *db_prepare(sql_connection *con, const char *query, size_t length);
sql_param *db_bind_create(int type, uint32_t max_len);
void db_param_release(sql_param *param);
void db_param_set_string(sql_param *param, const char *value, size_t length);
void db_param_set_rand_str(sql_param *param, const char *format);
int db_bind_param(sql_statement *stmt, sql_param **params, size_t nparams);
sql_result *db_execute(sql_statement *stmt);
int db_close(sql_statement *stmt);
void db_statement_release(sql_statement *stmt);
int db_bulk_insert_init(sql_connection *con, const char *query, size_t length);
int db_bulk_insert_next(sql_connection *con, const char *values, size_t length);
int db_bulk_insert_done(sql_connection *con);
