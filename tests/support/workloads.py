"""The stock workloads: Debian's and our own, by the same names."""

from pathlib import Path

DEBIAN = Path("/usr/share/sysbench")
LUA = Path(__file__).parent.parent.parent / "lua"
SCRIPTS = (
    "bulk_insert",
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
)
