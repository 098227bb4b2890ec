"""`PYTHON path/to/runner JOB.json OUT.json`: run a job in the interpreter that holds the torch to prove with.

With `--serve CACHE` instead it runs many, see `serve`; with `--keep FD` it runs a command, see `keeper`.

That interpreter has no symfix, so the package is loaded from its folder, under a name of its own; the folder is taken
off `sys.path`, where its modules would shadow others.
"""

import importlib.util
import os
import sys
from pathlib import Path

PACKAGE = "symfix_runner"


def load() -> None:
    """Make the package importable as `PACKAGE`. Raises ImportError where its folder is not whole."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder}: holds no runner")
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)  # it is loaded by now; what this process starts must not load it
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # nothing here is compiled by Inductor: start no pool for it
    load()
    arguments = sys.argv[1:]
    del sys.argv[1:]  # a repro takes its own for libraries to load
    if arguments[0] == "--keep":
        sys.exit(importlib.import_module(f"{PACKAGE}.keeper").main(arguments[1:]))
    if arguments[0] == "--serve":
        sys.exit(importlib.import_module(f"{PACKAGE}.serve").main(arguments[1]))
    sys.exit(importlib.import_module(f"{PACKAGE}.job").main(arguments))
