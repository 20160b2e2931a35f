#!/bin/sh
# At which rate does the queue begin to grow? Steps of a rate on an embedded SQLite database; see docs/latency.md.
# Environment: SYSBENCH, the command (sysbench); RATE, the steps (1000:4000:1000@2s).
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
${SYSBENCH:-sysbench} oltp_read_write --db-driver=sqlite --sqlite-db="$directory/test.db" --table-size=10000 \
    --threads=2 --rate="${RATE:-1000:4000:1000@2s}" --statements=on prepare run
