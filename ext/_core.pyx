# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: embedsignature=True, freethreading_compatible=False
# SPDX-License-Identifier: GPL-2.0-or-later
"""The core: what runs while events run. Everything here is `noexcept nogil` unless it is called from Python.

The parts, in the order in which they build on each other.
"""

include "base.pxi"          # C types, abi.h, clock
include "symbols.pxi"       # functions of libraries that are found at run time
include "shared.pxi"        # memory that worker processes share
include "log.pxi"           # messages, duplicate suppression
include "rand.pxi"          # generator, seeding, distributions, strings
include "histogram.pxi"     # HDR latency recording; the logarithmic histogram for scripts
include "worker.pxi"        # one worker's counters and latencies; snapshots for the reporter
include "fiber.pxi"         # many workers on few OS threads; how a worker waits
include "pacer.pxi"         # rate mode: when the next event should start
include "run.pxi"           # one run: limits, barrier, the event functions that Lua calls
include "stored.pxi"        # what all Lua states share
include "team.pxi"          # the threads of a parallel command
include "lua_api.pxi"       # the script's options; the JSON array of reports
include "db.pxi"            # driver table, connections, error record
include "db_error.pxi"      # one policy for ignorable errors and lost connections
include "db_statement.pxi"  # prepared statements, parameters, emulation
include "db_bulk.pxi"       # bulk inserts
include "bulk_rows.pxi"     # the rows of a multi-row INSERT as data for a load
include "bulk_copy.pxi"     # --bulk=copy: bulk inserts by a load
include "statements.pxi"    # what each statement cost, and errors by code
include "drv_null.pxi"
include "socket.pxi"          # what the wire protocols share
include "openssl.pxi"         # TLS streams
include "tls.pxi"             # the client's side of their beginning
include "mysql_wire.pxi"      # the connection, bytes, sending
include "mysql_reply.pxi"     # receiving
include "mysql_rows.pxi"      # text and binary rows
include "drv_mysql.pxi"
include "libpq.pxi"           # taking over a connection of psycopg2, its TLS too
include "pgsql_wire.pxi"      # the connection, messages, sending
include "pgsql_reply.pxi"     # receiving
include "drv_pgsql.pxi"
include "drv_sqlite.pxi"
include "drv_dbapi.pxi"         # by a DB-API 2.0 module, with the interpreter lock
include "drivers.pxi"         # the registry of drivers
include "lua_calls.pxi"       # the workers of a carrier: coroutines of one Lua state
include "client.pxi"          # a connection for Python
include "bench_cpu.pxi"       # the work of the built-in tests
include "bench_memory.pxi"
include "bench_threads.pxi"
include "bench_mutex.pxi"
include "bench_slap.pxi"
include "fileio_requests.pxi"   # the fileio test: the order of requests
include "fileio_test.pxi"       # what its workers have, and how they fail
include "fileio_validate.pxi"   # contents that can be checked
include "fileio_sync.pxi"       # requests by pread() and pwrite(); the end of every request
include "fileio_mmap.pxi"       # requests by copying from and to mapped files
include "fileio_aio.pxi"        # requests by io_submit()
include "fileio_uring.pxi"      # requests by io_uring
include "bench_fileio.pxi"      # its workers and its set-up
