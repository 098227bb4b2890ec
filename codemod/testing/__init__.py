"""What the tests of a library import: `symfix_probe`, and the plugin that gives pytest `--symfix-probe`.

All that is slow to import comes with the first call, for each run of pytest imports this where symfix is installed.
"""

from codemod.testing.check import symfix_probe

__all__ = ["symfix_probe"]
