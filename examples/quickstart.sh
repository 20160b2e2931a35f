#!/bin/sh
# Builds the project into .venv and runs oltp_read_write on an embedded SQLite database, from prepare to report.
# Environment: SYSBENCH_TIME, seconds to run (10); SYSBENCH_DB, the database file (a temporary one).
set -eu
cd "$(dirname "$0")/.."
. tests/support/venv.sh

need_build_tools
install_missing
install_project .

if [ -z "${SYSBENCH_DB:-}" ]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
    SYSBENCH_DB=$directory/quickstart.db
fi
.venv/bin/sysbench oltp_read_write --db-driver=sqlite --sqlite-db="$SYSBENCH_DB" \
    --tables=4 --table-size=10000 --threads=4 --time="${SYSBENCH_TIME:-10}" prepare run cleanup
