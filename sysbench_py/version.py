"""The version, and the names under which sysbench's users meet it."""

__version__ = "0.1.0"
REFERENCE = "1.0.20"
# The suffix tells people what they really run. It has no dots: scripts look in `sysbench --version` for numbers with
# dots, and take all that they find.
VERSION = f"{REFERENCE}-py{__version__.replace('.', '-')}"
VERSION_STRING = f"sysbench {VERSION}"
