#!/bin/sh
# A curve over threads, and whether prepared statements pay off, both on an embedded SQLite database.
# Run it where `sysbench` is this project's command. Results are in ./sweep and ./ab, which must not be there yet.
# Environment: SYSBENCH_LIMIT, how long a run is (--time=2).
set -eu
workload="oltp_point_select --db-driver=sqlite --sqlite-db=example.db --table-size=1000 ${SYSBENCH_LIMIT:---time=2}"

sysbench sweep $workload --threads=1,2,4 --repeats=2 --folder=sweep prepare run cleanup
sysbench ab $workload --b=--db-ps-mode=disable --pairs=3 --folder=ab prepare run cleanup
# The same comparison again, from the saved results; with --fail-above its exit status is for CI.
sysbench compare --paired ab/a ab/b --percentile=50,99
