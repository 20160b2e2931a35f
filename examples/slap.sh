#!/bin/sh
# The slap test on an embedded database. First generated queries with one and four clients, then queries of one's own.
#
#    sh examples/slap.sh [slap.db]
set -e
database="--db-driver=sqlite --sqlite-db=${1:-/tmp/slap.db}"

# shellcheck disable=SC2086 -- several options
sysbench slap $database --auto-generate-sql --auto-generate-sql-load-type=mixed --auto-generate-sql-add-autoincrement \
    --concurrency=1,4 --number-of-queries=2000 run

# Each client sends the two queries of the list in turn, so many that all clients send 2000.
# shellcheck disable=SC2086
sysbench slap $database --delimiter=';' --concurrency=4 --number-of-queries=2000 \
    --create='CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER); INSERT INTO account VALUES (1, 100)' \
    --query='SELECT balance FROM account WHERE id = 1; UPDATE account SET balance = balance + 1 WHERE id = 1' run
