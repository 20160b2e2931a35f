"""Passwords: where they are taken from, and that `ps` does not show them."""

from pathlib import Path

import pytest

from sysbench_py.passwords import without_passwords
from tests.support.mariadb import MariaDB
from tests.support.postgres import PostgreSQL
from tests.support.proc import Result
from tests.support.reference import ours
from tests.support.server import PASSWORD, PASSWORD_USER, Server

LOGS_IN = "function prepare() sysbench.sql.driver():connect() print('in') end"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs_in.lua").write_text(LOGS_IN)
    (tmp_path / "right").write_text(f"{PASSWORD}\nsecond line\n")
    (tmp_path / "wrong").write_text("nonsense\n")
    return tmp_path


def option(server: Server, name: str) -> str:
    return f"--{'mysql' if isinstance(server, MariaDB) else 'pgsql'}-{name}"


def log_in(server: Server, folder: Path, *options: str, user: str = PASSWORD_USER, **variables: str) -> Result:
    environment = {"MYSQL_PWD": None, "PGPASSWORD": None, "HOME": str(folder), **variables}
    arguments = [*server.args, option(server, f"user={user}"), *options, "logs_in.lua", "prepare"]
    return ours(*arguments, cwd=folder, env=environment)


def is_in(result: Result) -> bool:
    assert result.stderr == ""
    if result.status == 0:
        assert result.stdout.endswith("\nin\n")
        return True
    assert result.status == 1
    assert "denied" in result.stdout or "password" in result.stdout
    return False


def variable(server: Server) -> str:
    return "MYSQL_PWD" if isinstance(server, MariaDB) else "PGPASSWORD"


def test_option(server: Server, folder: Path) -> None:
    assert is_in(log_in(server, folder, option(server, f"password={PASSWORD}")))
    assert not is_in(log_in(server, folder, option(server, "password=nonsense")))
    assert not is_in(log_in(server, folder))


def test_file(server: Server, folder: Path) -> None:
    assert is_in(log_in(server, folder, option(server, "password-file=right")))
    assert not is_in(log_in(server, folder, option(server, "password-file=wrong")))


def test_file_can_be_a_pipe_for_several_commands(mariadb: MariaDB, folder: Path) -> None:
    options = [f"--mysql-user={PASSWORD_USER}", "--mysql-password-file=/dev/stdin"]
    result = ours(*mariadb.args, *options, "logs_in.lua", "prepare", "prepare", cwd=folder, stdin=PASSWORD)
    assert (result.status, result.stdout.count("\nin\n")) == (0, 1)
    assert result.stdout.endswith("\nin\nin\n")


def test_variable(server: Server, folder: Path) -> None:
    assert is_in(log_in(server, folder, **{variable(server): PASSWORD}))
    assert not is_in(log_in(server, folder, **{variable(server): "nonsense"}))


def test_what_is_typed_wins_over_the_variable(server: Server, folder: Path) -> None:
    wrong = {variable(server): "nonsense"}
    right = {variable(server): PASSWORD}
    assert is_in(log_in(server, folder, option(server, f"password={PASSWORD}"), **wrong))
    assert is_in(log_in(server, folder, option(server, "password-file=right"), **wrong))
    assert not is_in(log_in(server, folder, option(server, "password-file=wrong"), **right))


def test_empty_password_wins_over_the_variable(server: Server, folder: Path) -> None:
    for typed in ("password=", "password"):
        assert not is_in(log_in(server, folder, option(server, typed), **{variable(server): PASSWORD}))


def test_empty_password_is_that_of_a_user_without_one(mariadb: MariaDB, folder: Path) -> None:
    assert is_in(log_in(mariadb, folder, "--mysql-password=", user="sbtest", MYSQL_PWD="nonsense"))
    assert not is_in(log_in(mariadb, folder, user="sbtest", MYSQL_PWD="nonsense"))


def test_password_in_a_config_file_is_typed_too(server: Server, folder: Path) -> None:
    (folder / "bench.cnf").write_text(f"{option(server, 'password')[2:]} = '{PASSWORD}'\n")
    assert is_in(log_in(server, folder, "--config-file=bench.cnf", **{variable(server): "nonsense"}))


def test_password_file_of_libpq(postgres: PostgreSQL, folder: Path) -> None:
    path = folder / ".pgpass"
    path.write_text(f"127.0.0.1:*:*:{PASSWORD_USER}:{PASSWORD}\n")
    path.chmod(0o600)
    assert is_in(log_in(postgres, folder))
    assert not is_in(log_in(postgres, folder, "--pgsql-password="))
    assert not is_in(log_in(postgres, folder, PGPASSWORD="nonsense"))


def test_option_and_file_exclude_each_other(server: Server, folder: Path) -> None:
    name = option(server, "password")
    result = log_in(server, folder, f"{name}=x", f"{name}-file=right")
    assert result.status == 1
    assert f"FATAL: {name} and {name}-file exclude each other\n" in result.stdout


def test_file_that_cannot_be_read(server: Server, folder: Path) -> None:
    name = option(server, "password-file")
    result = log_in(server, folder, f"{name}=missing")
    assert result.status == 1
    assert f"FATAL: Cannot read {name} 'missing': No such file or directory\n" in result.stdout


def test_ps_does_not_show_passwords(folder: Path) -> None:
    (folder / "waits.lua").write_text(
        "function prepare() print(table.concat(sysbench.cmdline.argv, ' '), sysbench.opt.mysql_password)\n"
        "io.stdout:flush() ffi.cdef('int usleep(unsigned)') ffi.C.usleep(60 * 1000000) end"
    )
    typed = {
        "--mysql-password=s3cret": "--mysql-password=xxxxxx",
        "--pgsql-password=pässword": "--pgsql-password=xxxxxxxxx",
        "--mysql-password-file=": "--mysql-password-file=",
        "--mysql-user=me": "--mysql-user=me",
        "--mysql-password": "--mysql-password",
        "--mysql-password=last": "--mysql-password=xxxx",
        "waits.lua": "waits.lua",
        "prepare": "prepare",
    }
    with ours.start(*typed, cwd=folder) as run:
        run.wait_for("waits.lua prepare")
        shown = Path(f"/proc/{run.process.pid}/cmdline").read_text().split("\0")
        told = run.stdout.splitlines()[-1]
    assert shown[3:] == [*typed.values(), ""]
    # The script sees what was typed.
    assert told == f"{' '.join(typed)}\tlast"


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        ("--mysql-password=secret", "--mysql-password=***"),
        ("--pgsql_password=", "--pgsql_password=***"),
        ("--my-api-token=abc", "--my-api-token=***"),
        ("--pgsql-password-file=/etc/pw", "--pgsql-password-file=/etc/pw"),
        ("--pgsql-db=postgresql://me:secret@db:5432/sb", "--pgsql-db=postgresql://me:***@db:5432/sb"),
        ("--pgsql-db=postgresql://me@db:5432/sb", "--pgsql-db=postgresql://me@db:5432/sb"),
        ("--pgsql-db=host=db password='a b' user=me", "--pgsql-db=host=db password=*** user=me"),
        ("--pgsql-db=postgresql://db/sb?password=secret&user=me", "--pgsql-db=postgresql://db/sb?password=***&user=me"),
        ("--threads=4", "--threads=4"),
        ("oltp_read_write", "oltp_read_write"),
    ],
)
def test_what_others_may_see_has_no_password(argument: str, shown: str) -> None:
    assert without_passwords(argument) == shown
