"""All that is claimed of this program's speed, measured on this machine against private servers, as a Markdown table.

python -m benchmarks [--pairs N] [--time S] [--quick] [--list] [WORD...]
"""

from benchmarks import rows_client, rows_databases, rows_points
from benchmarks.command import main

main((*rows_client.ROWS, *rows_points.ROWS, *rows_databases.ROWS), (__doc__ or "").split("\n")[0])
