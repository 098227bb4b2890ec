"""What may be said for an option, on the command line and in files: the choices, and the most.

Nothing is imported here, for `--help` and the shell's completion need these alone.
"""

LEVELS = ("safe", "review", "manual")
"""The names of `findings.Level`, from the lowest."""
OPERATORS = "operators"
MODULES = "modules"
ALL = "all"
SCOPES = (OPERATORS, MODULES, ALL)
"""From the narrowest to the widest."""
FORMATS = ("text", "json", "csv", "github", "sarif", "baseline")
"""What `scan` prints."""
SORTS = ("impact", "findings", "name")
"""The orders of operators in what `scan` prints."""
SHARD_KINDS = ("operator", "file", "module")
"""What one shard may be about."""
FIX_STEPS = ("reproduce", "plan", "prove", "commit", "pr")
"""What `fix` does, in its order."""
BACKENDS = ("aot_eager", "inductor")
"""What `probe` and `prove` compile operators with, the default first."""
EVERYTHING = "--all"
"""What `review --forget` takes beside selectors."""
MOST_JOBS = 1024
"""The most processes, or tasks of a cluster, that can be asked for."""
