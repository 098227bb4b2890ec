"""Which functions of torch.nn.functional and its kin `torch.jit.script` compiles.

    python tests/corpus/audit_torchscript.py [--torch COPY] > list.txt

Of the decompositions, PyTorch hands to TorchScript those in `torch._decomp.decompositions_for_jvp`; importing it
compiles them, or fails. Prints one line a function and exits 0; `diff` of two such lists shows what scripting lost.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import warnings
from pathlib import Path

MODULES = ("torch.nn.functional", "torch.functional", "torch._lowrank", "torch._linalg_utils")


def main() -> int:
    """Print the functions that compile."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch", type=Path, help="a folder that holds another torch package")
    arguments = parser.parse_args()
    if arguments.torch:
        sys.path.insert(0, str(arguments.torch.resolve()))
    warnings.filterwarnings("ignore")
    import torch

    # Importing these scripts the decompositions they register.
    importlib.import_module("torch._decomp.decompositions_for_jvp")
    for module in map(importlib.import_module, MODULES):
        for name, function in sorted(vars(module).items()):
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                if name.startswith(("_eager_guard_or", "_eager_sym", "_guard_or", "_sym_")):
                    continue  # what symfix adds
                try:
                    torch.jit.script(function)
                except Exception:
                    continue
                print(f"{module.__name__}.{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
