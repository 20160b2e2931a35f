"""A private, throwaway database server: what MariaDB and PostgreSQL have in common."""

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.support.proc import poll, wait_until
from tests.support.querylog import Entry
from tests.support.tls import make_certificates

USER = "sbtest"
DATABASE = "sbtest"
PASSWORD_USER = "sbsecret"
PASSWORD = "s3cret"


class Server(ABC):
    """One server with its own directory, port and socket, for `start` and in the end `close`.

    Ready for use: database `sbtest` and in it, with all rights, user `sbtest` without password and user
    `PASSWORD_USER` with `PASSWORD`. With `tls` the server offers TLS (and does not require it), and
    `certificates` is the directory of its PEM files.
    """

    name: ClassVar[str]
    stop_signal: ClassVar[signal.Signals]

    def __init__(self, *, tls: bool = False, account: str | None = None) -> None:
        self._account = account
        self._process: subprocess.Popen[bytes] | None = None
        # Directly in the temp folder: the path of a unix socket may have 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="sb-"))
        self.directory.chmod(0o755)
        self.data = self.directory / "data"
        self.log = self.directory / "console.log"
        self.port = _free_port()
        self.certificates = self.directory / "tls" if tls else None
        self._give(self.directory)
        # A server that starts removes what it takes for its own temporary tables, also those of another one.
        temporary = self.directory / "tmp"
        temporary.mkdir()
        self._give(temporary)
        self._environment = {**os.environ, "TMPDIR": str(temporary)}

    @property
    @abstractmethod
    def args(self) -> list[str]:
        """The command line options that select this server as user `sbtest`."""

    @abstractmethod
    def connect(self, database: str = DATABASE) -> Any:
        """A new DB-API connection of the administrator, in autocommit mode."""

    @abstractmethod
    def kill_all_client_connections(self, user: str = USER) -> int:
        """Ends every connection of `user` from the server's side; returns how many there were."""

    @abstractmethod
    def empty_database(self) -> None:
        """Leaves database `sbtest` with nothing in it."""

    @abstractmethod
    def query_log(self) -> AbstractContextManager[list[Entry]]:
        """What clients send inside the block, connection by connection, as a list filled when the block ends.

        The administrator's own are left out. Blocks do not nest.
        """

    @abstractmethod
    def _create(self) -> None:
        """Makes the data directory."""

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """The command that runs the server in the foreground."""

    @abstractmethod
    def _populate(self) -> None:
        """Makes users and database on a server that has just been started for the first time."""

    @property
    def pid(self) -> int:
        """The server's process id; the test fails when it was never started."""
        if self._process is None:
            pytest.fail(f"{self.name} was not started")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the server unless it runs, and returns when it takes connections."""
        if self.running:
            return
        new = not self.data.exists()
        if new:
            if self.certificates is not None:
                make_certificates(self.certificates)
                self._give(self.certificates / "server-key.pem")
            self._create()
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C in the terminal is for the tests, which then stop the server.
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.directory,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._as_account(),
            )
        poll(lambda: not self.running or self._takes_connections(), 60)
        if not self.running or not self._takes_connections():
            pytest.fail(f"{self.name} does not start:\n{self._log_tail()}", pytrace=False)
        if new:
            self._populate()

    def stop(self) -> None:
        """Shuts the server down in order, if it runs: clients are disconnected, data is kept."""
        if self.running:
            os.kill(self.pid, self.stop_signal)
        wait_until(lambda: not self.running, f"{self.name} to stop")

    def kill9(self) -> None:
        """Kills the server, if it runs, and all its helper processes, as a crash would."""
        if not self.running:
            return
        # Stopped, it makes no new helpers while they are counted, and reaps none that ends.
        os.kill(self.pid, signal.SIGSTOP)
        family = [*_children(self.pid), self.pid]
        for pid in family:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.running and not any(map(_alive, family)), f"{self.name} to die")

    def stall(self, seconds: float) -> None:
        """Stops the server and all its helper processes for so long: connections stay, and nothing answers."""
        family = [self.pid, *_children(self.pid)]
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            for pid in family:
                os.kill(pid, signal.SIGCONT)

    def restart(self) -> None:
        """Shuts the server down in order and starts it on the same port with the same data."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Ends the server and removes its data."""
        self.kill9()
        shutil.rmtree(self.directory)

    def sql(self, text: str, database: str = DATABASE) -> list[tuple[Any, ...]]:
        """Runs one statement as the administrator; returns its rows, if any."""
        with closing(self.connect(database)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(text)
            return list(cursor.fetchall()) if cursor.description else []

    def _run_tool(self, *command: str) -> None:
        """Runs a set-up program as the server's account; the test fails with its output if it does."""
        done = subprocess.run(
            command,
            cwd=self.directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            **self._as_account(),
        )
        if done.returncode != 0:
            pytest.fail(f"{command[0]} fails:\n{done.stdout.decode(errors='replace')}", pytrace=False)

    def _as_account(self) -> dict[str, Any]:
        if self._account is None:
            return {}
        return {"user": self._account, "group": pwd.getpwnam(self._account).pw_gid, "extra_groups": []}

    def _give(self, path: Path) -> None:
        if self._account is not None:
            shutil.chown(path, self._account)

    @abstractmethod
    def _takes_connections(self) -> bool:
        """Whether the administrator can connect now."""

    def _log_tail(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]


def _free_port() -> int:
    """A port below the range from which the kernel picks for outgoing connections, so that it stays free."""
    for port in random.sample(range(20000, 32768), 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    pytest.fail("no free TCP port between 20000 and 32767")


def _state_and_parent(pid: int) -> tuple[str, int]:
    """From /proc/PID/stat (proc_pid_stat(5)); state "X" when there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    return fields[0], int(fields[1])


def _children(pid: int) -> list[int]:
    processes = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    return [process for process in processes if _state_and_parent(process)[1] == pid]


def _alive(pid: int) -> bool:
    # A zombie holds nothing any more; where process 1 reaps no orphans it may stay for ever.
    return _state_and_parent(pid)[0] not in "XZ"
