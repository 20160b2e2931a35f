#!/bin/sh
# Installs what is missing, builds the project into .venv, and runs all checks and tests.
# Arguments go to pytest; the exit status is pytest's, or that of the check that failed before it.
set -eu
cd "$(dirname "$0")/.."
. tests/support/venv.sh

need_build_tools
need mariadb-server test -x /usr/sbin/mariadbd
need postgresql ls /usr/lib/postgresql/*/bin/postgres
need sysbench test -x /usr/bin/sysbench
need openssl command -v openssl
need zsh command -v zsh
need fish command -v fish
install_missing
# What has just been installed must not start at the next boot either: the tests do not use it.
for service in mariadb postgresql; do
    case $missing in
        *"$service"*) ! command -v systemctl >/dev/null || as_root systemctl --quiet disable "$service" ;;
    esac
done

install_project --editable '.[test,dev]'
.venv/bin/ruff check --quiet
.venv/bin/mypy --no-error-summary
# Most of the time tests wait, for servers and for time limits: three at once load two cores.
exec .venv/bin/python -m pytest -n 3 --dist loadfile "$@"
