"""Which line asked about a size, and whose it is, from the stack at the moment torch answered."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from codemod.probe.trace import Frame

YOURS = "your code"
TORCH = "torch"
COMPILED = "C++ of torch"
_CALLED = "C++ that "

PYTHON = "Python's library"
UNKNOWN = "unknown"

_PACKAGE = re.compile(r"/(?:site|dist)-packages/([\w.-]+)")
_LIBRARY = re.compile(r"/lib(?:64)?/python3\.\d+/")
_INDUCTOR = re.compile(r"/([a-z2-7]{2})/c\1[a-z2-7]{20,60}\.py$")  # what torch/_inductor/codecache.py writes
_FOLDER = re.compile(r"^(.*?/torch)/(?:_logging/_internal|_dynamo/convert_frame)\.py$")
_INSIDE = re.compile(r"^(.*/torch)/(?:_dynamo|_subclasses|fx|_functorch|_refs|_prims\w*|nn|_ops|_decomp|_meta\w+)\b")
# Below torch's folder. The code that answers questions about sizes, and asks none of its own:
_ANSWERS = re.compile(
    r"__init__\.py|_logging/|utils/_sympy/|fx/experimental/(?:symbolic_shapes|sym_node|recording|_\w+)\.py"
)
# Where calls pass from Python to the kernels of operators, in a trace or outside of one:
_DISPATCH = re.compile(
    r"_ops\.py|_compile\.py|_utils_internal\.py|utils/_|_dynamo/|_subclasses/(?:fake_tensor|fake_impls|functional_tensor)\.py"
    r"|_higher_order_ops/|_export/|fx/|_functorch/|_inductor/|_library/utils\.py|_prims_common/wrappers\.py"
    r"|_decomp/__init__\.py"
)
_SYMBOL_NODE = "fx/experimental/sym_node.py"
# `sizes()` of a fake tensor, which C++ alone calls: its `_DISPATCH_META_HANDLERS` make each size an integer.
_FAKE_TENSOR = "_subclasses/fake_tensor.py"
_POLYFILLS = "_dynamo/polyfills/"


def torch_folder(stack: Sequence[Frame]) -> str:
    """The folder of the torch that wrote a stack, which its own logging or Dynamo stands on; "" where neither does."""
    return next((match[1] for frame in reversed(stack) if (match := _FOLDER.match(frame.path))), "")


def folder_of(paths: Iterable[str]) -> str:
    """The folder of the torch that has one of these files; "" where none is torch's."""
    return next((match[1] for path in paths if (match := _INSIDE.match(path))), "")


def asking(
    stack: Sequence[Frame], user_stack: Sequence[Frame], torch: str, native: bool = False
) -> tuple[Frame | None, Frame | None, str]:
    """(the line that asked, the program's line that led there or None where they are the same, whose the line is).

    The program's line is the innermost that is neither torch's nor Python's, where there is one.

    `torch` is the folder of torch; `native` says that C++ is known to have asked. Where Dynamo asked, it did so for the
    program's own line. Where a C++ function asked, its caller is the nearest line: Python's SymInt asks by its own
    methods (torch/__init__.py), C++ by those of the node.
    """
    lines = [frame for frame in user_stack if not _below(frame, torch).startswith(_POLYFILLS)]
    traced = lines[-1] if lines else None
    user = next((line for line in reversed(lines) if owner(line, torch) not in (TORCH, PYTHON)), traced)
    led = user if user != traced else None
    below = [_below(frame, torch) for frame in stack]
    if not lines:
        user = _running(stack, below, torch)
    index = len(stack) - 1
    while index >= 0 and (_ANSWERS.match(below[index]) or stack[index].path.endswith("/functools.py")):
        index -= 1
    node_asked = native or (index >= 0 and index + 1 < len(stack) and below[index + 1] == _SYMBOL_NODE)
    if index < 0 or (below[index].startswith("_dynamo/") and not node_asked):
        return traced, led, COMPILED if native else owner(traced, torch)
    compiled = node_asked or below[index] == _FAKE_TENSOR
    while compiled and index >= 0 and (_DISPATCH.match(below[index]) or _ANSWERS.match(below[index])):
        index -= 1
    if compiled and (index < 0 or any(_traces(name) or (_runs_a_graph(name) and not below[index])
                                      for name in below[index + 1 :])):  # fmt: skip
        return traced, led, COMPILED
    place = stack[index]
    whose = owner(place, torch)
    return place, user if user != place else None, called_by(whose) if compiled else whose


def _running(stack: Sequence[Frame], below: Sequence[str], torch: str) -> Frame | None:
    """The program's innermost line where its own Python runs while it is traced, as torch.export runs it."""
    for frame, name in zip(reversed(stack), reversed(below), strict=True):
        if _traces(name) or _runs_a_graph(name):
            return None
        if owner(frame, torch) not in (TORCH, PYTHON):
            return frame
    return None


def called_by(whose: str) -> str:
    """Whose C++ is that a line of such an owner calls."""
    return COMPILED if whose in (TORCH, UNKNOWN, "") else f"{_CALLED}{whose} calls"


def schema_owner(argument: str) -> str:
    """Whose schema has an argument, as `Answer.argument` names it: "C++ of torch", or "schema of mylib"."""
    namespace = argument.rpartition(" ")[2].rpartition("::")[0]
    return COMPILED if namespace in ("", "aten", "prims") else f"schema of {namespace}"


def is_compiled(whose: str) -> bool:
    """Whether an owner, as `asking` gives it, is C++ code."""
    return whose == COMPILED or whose.startswith(_CALLED)


def _below(frame: Frame, torch: str) -> str:
    """The path of a frame below torch's folder; "" outside of it."""
    return frame.path[len(torch) + 1 :] if torch and frame.path.startswith(f"{torch}/") else ""


def _traces(name: str) -> bool:
    """Whether a frame is Dynamo's that traces a program: what stands outside of it has called the whole."""
    return name.startswith("_dynamo/symbolic_convert.py")


def _runs_a_graph(name: str) -> bool:
    """Whether a frame runs what was captured before: the program's own lines are not on such a stack."""
    return name.startswith(("fx/interpreter.py", "_functorch/_aot_autograd/"))


def compiled_frame(stack: Sequence[Frame], torch: str) -> Frame:
    """The frame that a compilation of this stack is named after: the last, or the caller of what is torch's own.

    A module that is compiled as a whole runs in a function of torch that says nothing of it
    (torch/_dynamo/external_utils.py, `wrap_inline`).
    """
    if owner(stack[-1], torch) != TORCH:
        return stack[-1]
    callers = [frame for frame in stack if owner(frame, torch) not in (TORCH, PYTHON)]
    return callers[-1] if callers else stack[-1]


def passes_calls_on(path: str, torch: str) -> bool:
    """Whether the file only passes calls on to kernels, or to the compiler: nothing that it asks is its own."""
    return _DISPATCH.match(_below(Frame(path, 0, ""), torch)) is not None


def owner(frame: Frame | None, torch: str) -> str:
    """Whose line it is: "torch", an installed package's name, Python's, "your code"; "unknown" without a whole path."""
    if frame is None:
        return UNKNOWN
    if _below(frame, torch):
        return TORCH
    package = _PACKAGE.search(frame.path)
    if package is not None:
        return package[1].removesuffix(".py")
    if _LIBRARY.search(frame.path):
        return PYTHON
    if frame.path.startswith("<") or _INDUCTOR.search(frame.path):
        return "generated code"
    return YOURS if os.path.isabs(frame.path) else UNKNOWN


def in_full(frame: Frame, torch: str, paths: Collection[str]) -> Frame:
    """`frame` with its whole path, of which guards have only the end; as it is where more than one path, or none, fits.

    `paths` are those that stacks name. The files at hand are looked at where none of these is it.
    """
    if not frame.path or os.path.isabs(frame.path) or frame.path.startswith("<"):
        return frame
    found = {path for path in paths if path.endswith(frame.path) and _cut(path, torch) in (frame.path, "")}
    if not found and os.path.isabs(torch) and os.path.isdir(torch):
        folders = [torch]
        while len(folders[-1]) > 1:
            folders.append(os.path.dirname(folders[-1]))
        possible = [os.path.join(folder, frame.path) for folder in folders]
        possible += glob.glob(f"/?{glob.escape(frame.path)}")  # what only the root has in common loses a letter more
        found = {path for path in possible if _cut(path, torch) == frame.path and os.path.isfile(path)}
    return replace(frame, path=found.pop()) if len(found) == 1 else frame


def _cut(path: str, torch: str) -> str:
    """What torch writes of a path (`shorten_filename` of torch/utils/_traceback.py); "" where its folder is unknown."""
    if not (os.path.isabs(torch) and os.path.isabs(path)):
        return ""
    return path[len(os.path.commonpath([path, torch])) + 1 :]
