"""The version, and the names under which sysbench's users meet it."""

__version__ = "0.1.0"
REFERENCE = "1.0.20"
# Scripts parse `sysbench --version`; the suffix tells people what they really run.
VERSION = f"{REFERENCE}-py{__version__}"
VERSION_STRING = f"sysbench {VERSION}"
