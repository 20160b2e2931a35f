"""The tools beside the grammar of sysbench, for those who name or list them; tools/app.py has the commands."""

WORD = "tools"
TOOLS = {
    "ab": "Run two set-ups in turn and compare them: servers, options or scripts.",
    "compare": "Compare saved results: ratios of throughput and latency, how certain they are, and a verdict.",
    "completion": "Print a shell's completion script: tests, commands and options, those of scripts included.",
    "drivers": "List the database drivers, what each needs, and whether that is installed and usable here.",
    "report": "Print a saved result as its run has printed it, or write it in other formats.",
    "sweep": "Run a test at several values of an option, or of two, and draw its curve.",
}
# Those that are reached without that word too.
COMMANDS_OF_THEIR_OWN = ("report", "sweep", "compare", "ab")
