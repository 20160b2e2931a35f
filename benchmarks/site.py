"""Where the rows run: a folder, and servers and programs that are there once something asks for them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path

from benchmarks.measure import RunFailed, run
from tests.support.dbapi import dbapi
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import find_program
from tests.support.server import DATABASE, USER, Server

HERE = Path(__file__).parent
TABLES, ROWS = 4, 25_000
FOR_TLS = ("cacert.pem", "client-cert.pem", "client-key.pem")


class Site:
    """What the templates of commands name. Texts are ready for a command line; servers are private, have TABLES
    tables of ROWS rows unless they are `..._empty`, and end with `stack`."""

    def __init__(self, reference: str, ours: str, time_s: int, directory: Path, stack: ExitStack) -> None:
        self.reference = reference
        self.ours = ours
        self.time = time_s
        self.directory = directory
        self.python = shlex.quote(sys.executable)
        self.lua = shlex.quote(str(HERE / "lua"))
        self.tables = f"--tables={TABLES} --table-size={ROWS}"
        self._stack = stack

    def __getitem__(self, name: str) -> object:
        return getattr(self, name)

    def command(self, template: str) -> list[str]:
        """Starts what the template names, if it does not run yet."""
        return shlex.split(template.format_map(self))

    # -- servers

    def _start(self, server: Server) -> None:
        self._stack.enter_context(closing(server))
        server.start()

    def _fill(self, options: str) -> str:
        run(self.command(f"{{ours}} oltp_read_write {options} {{tables}} prepare"), self.directory)
        return options

    @cached_property
    def _mariadb(self) -> MariaDB:
        server = MariaDB()
        self._start(server)
        self._fill(shlex.join(server.args))
        return server

    @cached_property
    def _postgres(self) -> PostgreSQL:
        server = PostgreSQL()
        self._start(server)
        self._fill(shlex.join(server.args))
        return server

    @cached_property
    def mariadb(self) -> str:
        """Options for MariaDB over TCP."""
        return shlex.join(self._mariadb.args)

    @cached_property
    def mariadb_socket(self) -> str:
        """Options for the same server through its socket."""
        return f"--db-driver=mysql --mysql-socket={self._mariadb.socket} --mysql-user={USER} --mysql-db={DATABASE}"

    @cached_property
    def mariadb_tls(self) -> str:
        """Options for a MariaDB over TLS. Its certificates are where sysbench 1.0 looks for them."""
        server = MariaDB(tls=True)
        self._start(server)
        assert server.certificates is not None
        for name in FOR_TLS:
            shutil.copy(server.certificates / name, self.directory)
        return self._fill(shlex.join(server.args))

    @cached_property
    def mariadb_empty(self) -> str:
        server = MariaDB()
        self._start(server)
        return shlex.join(server.args)

    @cached_property
    def postgres(self) -> str:
        """Options for PostgreSQL over TCP."""
        return shlex.join(self._postgres.args)

    @cached_property
    def postgres_empty(self) -> str:
        server = PostgreSQL()
        self._start(server)
        return shlex.join(server.args)

    @cached_property
    def sqlite(self) -> str:
        return self._fill(f"--db-driver=sqlite --sqlite-db={shlex.quote(str(self.directory / 'test.db'))}")

    # -- the same servers through modules of Python

    @cached_property
    def dbapi_psycopg2(self) -> str:
        return shlex.join(dbapi(self._postgres, "psycopg2"))

    @cached_property
    def dbapi_pg8000(self) -> str:
        return shlex.join(dbapi(self._postgres, "pg8000.dbapi"))

    @cached_property
    def dbapi_pymysql(self) -> str:
        return shlex.join(dbapi(self._mariadb, "pymysql"))

    # -- pgbench

    @cached_property
    def pgbench(self) -> str:
        """pgbench with its own tables, as many rows in all as the others."""
        program = find_program("pgbench", "postgresql")
        connect = f"-h 127.0.0.1 -p {self._postgres.port} -U {USER}"
        run(shlex.split(f"{program} -i -q -s {TABLES * ROWS // 100_000} {connect} {DATABASE}"), self.directory)
        return f"{program} -n {connect} {DATABASE}"

    # -- programs in C

    def _compile(self, program: str) -> str:
        sources = sorted(str(path) for path in (HERE / "c").glob(f"{program}*.c"))
        path = self.directory / program
        run([find_program("gcc", "gcc"), "-O2", "-pthread", "-o", str(path), *sources], self.directory)
        return shlex.quote(str(path))

    @cached_property
    def floor(self) -> str:
        return self._compile("floor")

    @cached_property
    def floor_mariadb(self) -> str:
        """Where the floor finds MariaDB over TCP, and as whom it logs in."""
        return f"mysql 127.0.0.1 {self._mariadb.port} {USER} {DATABASE}"

    @cached_property
    def floor_mariadb_socket(self) -> str:
        return f"mysql {self._mariadb.socket} 0 {USER} {DATABASE}"

    @cached_property
    def floor_postgres(self) -> str:
        return f"pgsql 127.0.0.1 {self._postgres.port} {USER} {DATABASE}"

    @cached_property
    def floor_tables(self) -> str:
        return f"{TABLES} {ROWS}"

    @cached_property
    def responder(self) -> str:
        return self._compile("responder")

    def _respond(self, driver: str) -> str:
        """Start a responder on the first core; what connects to it."""
        command = [*self._pinned(0), *shlex.split(self.responder), driver]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._stack.callback(_end, process)
        assert process.stdout is not None
        said = process.stdout.readline().split()
        if said[:1] != ["port"]:
            raise RunFailed(f"{shlex.join(command)} says no port")
        return f"--db-driver={driver} --{driver}-host=127.0.0.1 --{driver}-port={said[1]}"

    @cached_property
    def responder_mysql(self) -> str:
        return self._respond("mysql")

    @cached_property
    def responder_pgsql(self) -> str:
        return self._respond("pgsql")

    @cached_property
    def own_core(self) -> str:
        """What is put before the command of a client of a responder: a core that is not the responder's."""
        return shlex.join(self._pinned(1))

    @staticmethod
    def _pinned(core: int) -> list[str]:
        cores = sorted(os.sched_getaffinity(0))
        if core >= len(cores):
            raise RunFailed("the responder and its client need a core each")
        return [find_program("taskset", "util-linux"), "-c", str(cores[core])]


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate()
