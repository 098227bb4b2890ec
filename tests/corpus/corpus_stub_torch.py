"""Import a library's Python against a stub torch and print what it registers; runs as a program of its own.

    python corpus_stub_torch.py TREE < paths

Reads the paths of modules, a line each, relative to TREE. Prints a JSON document: `registered` has a list of
[kind, operator, path, function, …] for each registration of a function, with all functions that it may mean; `skipped`
has a line for each statement that could not be run. What is neither TREE nor the standard library is a stub that takes
everything. Modules run statement by statement and both ways through their conditions, so that what one machine has not
is registered nonetheless. Folders that they make and files that they write are not there; starting programs, other
changes of files and the network are refused.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import re
import resource
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

SECONDS = 20
"""Of processor time that one module gets for itself."""
MEMORY = 6 << 30
_REFUSED = (
    "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "socket.", "os.remove", "os.rename",
    "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod", "os.chown", "os.kill", "shutil.",
    "ctypes.dlopen", "pty.", "ftplib.", "smtplib.", "urllib.", "sqlite3.",
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_FUNCTIONS = (types.FunctionType, types.MethodType, staticmethod, classmethod)
_HELD = ("subprocess", "multiprocessing", "concurrent", "threading", "ctypes", "socket", "asyncio", "signal")
"""Modules of the standard library that are stubs too."""


class Version(str):
    """torch's version, which compares by its numbers as packaging's does."""

    def _numbers(self, other: object) -> tuple[list[int], list[int]]:
        mine, theirs = (list(map(int, re.findall(r"\d+", str(version)))) for version in (self, other))
        return mine, theirs

    def __lt__(self, other: object) -> bool:
        return (lambda pair: pair[0] < pair[1])(self._numbers(other))

    def __le__(self, other: object) -> bool:
        return (lambda pair: pair[0] <= pair[1])(self._numbers(other))

    def __gt__(self, other: object) -> bool:
        return not self <= other

    def __ge__(self, other: object) -> bool:
        return not self < other


VERSION = Version("2.13.0")


class Base:
    """What a class inherits in place of a stub."""

    def __init_subclass__(cls, **_: object) -> None:
        pass

    def __init__(self, *_: object, **__: object) -> None:
        pass

    @classmethod
    def apply(cls, *_: object) -> None:
        """Of torch.autograd.Function."""


class Stub:
    """Takes everything, and gives back a function that it is called with, as decorators do."""

    def __init__(self, name: str = "stub") -> None:
        self.__dict__["_name"] = name
        self.__dict__["__name__"] = name.rpartition(".")[2]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__version__"):
            raise AttributeError(name)
        made = VERSION if name == "__version__" else Stub(f"{self._name}.{name}")
        self.__dict__[name] = made
        return made

    def __call__(self, *given: object, **_: object) -> Any:
        if len(given) == 1 and isinstance(given[0], (*_FUNCTIONS, type)):
            return given[0]
        return Stub(self._name)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        first = next(base for base in bases if isinstance(base, Stub))
        return (Base,) if first is self else ()

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __enter__(self) -> Stub:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __hash__(self) -> int:
        return hash(self._name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        return str(self._name)

    def __instancecheck__(self, _: object) -> bool:
        return False


def _gives_stub(self: Stub, *_: object) -> Stub:
    return Stub(self._name)


def _gives(value: object) -> Callable[..., object]:
    return lambda self, *_: value


_NAMES = """add sub mul truediv floordiv mod pow or and xor lshift rshift matmul radd rsub rmul rtruediv rfloordiv rmod
ror rand rxor getitem neg pos invert abs"""
for _name in _NAMES.split():
    setattr(Stub, f"__{_name}__", _gives_stub)
for _name, _value in {
    "lt": True, "le": True, "gt": True, "ge": True, "len": 0, "int": 1, "index": 1, "float": 1.0, "bool": True,
    "contains": True, "setitem": None, "delitem": None,
}.items():  # fmt: skip
    setattr(Stub, f"__{_name}__", _gives(_value))


class Recorder:
    """The registrations, in the order in which they were made."""

    def __init__(self, root: str) -> None:
        self._root = root + os.sep
        self.registered: dict[tuple[str, ...], None] = {}

    def note(self, kind: str, operator: object, *functions: object) -> None:
        """Keep a registration, if a function of the tree is registered, with all that it may mean."""
        for function in functions:
            places = list(dict.fromkeys(self._places(function, 0)))
            if places:
                flat = [part for place in places for part in place]
                entry = (kind, name_of(operator), *flat)
                self.registered[entry] = None

    def _places(self, function: object, depth: int) -> Iterator[tuple[str, str]]:
        """Where a function stands; of one made inside another, where the functions stand that it closes over, too."""
        while not isinstance(function, types.FunctionType):
            inner = getattr(function, "__func__", None) or getattr(function, "func", None)
            inner = inner or getattr(function, "__wrapped__", None)
            if inner is None or isinstance(inner, Stub) or depth > 4:
                return
            function, depth = inner, depth + 1
        wrapped = getattr(function, "__wrapped__", None)
        code = function.__code__
        if code.co_filename.startswith(self._root):
            yield code.co_filename.removeprefix(self._root), function.__qualname__.replace(".<locals>", "")
        if depth < 4 and wrapped is not None:
            yield from self._places(wrapped, depth + 1)
        for cell in (function.__closure__ or ()) if "<locals>" in function.__qualname__ and depth < 4 else ():
            with contextlib.suppress(ValueError):  # an empty cell
                if isinstance(cell.cell_contents, types.FunctionType):
                    yield from self._places(cell.cell_contents, depth + 1)


def name_of(operator: object, namespace: str = "") -> str:
    """The operator's name without its schema; an overload packet, a definition or a string may name it."""
    named = getattr(operator, "qualified", operator)
    if not isinstance(named, str):
        return ""
    name = named.partition("(")[0].strip()
    return name if "::" in name or not namespace else f"{namespace}::{name}"


class Operator(Stub):
    """`torch.ops.lib.op`, and what custom_op makes of a function."""

    def __init__(self, recorder: Recorder, qualified: str) -> None:
        super().__init__(qualified)
        self.__dict__["qualified"] = qualified
        self.__dict__["_recorder"] = recorder

    def __getattr__(self, name: str) -> Any:
        known = ("register_fake", "register_kernel", "register_vmap", "register_torch_dispatch", "py_impl", "impl",
                 "impl_abstract")  # fmt: skip
        if name in known:
            return lambda *given, **_: self._register(name, given)
        if name == "register_autograd":
            return lambda backward, setup_context=None, **_: self._recorder.note(
                name, self.qualified, backward, setup_context
            )
        if name.startswith("__"):
            raise AttributeError(name)
        return Operator(self._recorder, self.qualified)

    def _register(self, kind: str, given: Sequence[object]) -> object:
        return _register(self._recorder, kind, self.qualified, given)


def _register(recorder: Recorder, kind: str, operator: object, given: Sequence[object]) -> object:
    """Note the function among what was given, or give a decorator that notes its function."""
    functions = [value for value in given if callable(value) and not isinstance(value, (Stub, type))]
    if functions or any(isinstance(value, Stub) for value in given[1:]):
        recorder.note(kind, operator, *functions)
        return functions[0] if functions else None

    def decorator(function: object) -> object:
        recorder.note(kind, operator, function)
        return function

    return decorator


class Namespaces(Stub):
    """`torch.ops`, and each namespace of it."""

    def __init__(self, recorder: Recorder, namespace: str = "") -> None:
        super().__init__(namespace)
        self.__dict__.update(_recorder=recorder, _namespace=namespace)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._namespace:
            return Operator(self._recorder, f"{self._namespace}::{name}")
        return Namespaces(self._recorder, name)


def torch_library(recorder: Recorder) -> dict[str, object]:
    """What torch.library holds, with each registration noted."""

    class Library:
        def __init__(self, ns: str, kind: str = "", dispatch_key: str = "") -> None:
            self.ns = self.namespace = ns

        def define(self, schema: str, *_: object, **__: object) -> str:
            return name_of(schema)

        def impl(self, op_name: object, fn: object, *_: object, **__: object) -> None:
            recorder.note("impl", name_of(op_name, self.namespace), fn)

        def _register_fake(self, op_name: object, fn: object, *_: object, **__: object) -> None:
            recorder.note("register_fake", name_of(op_name, self.namespace), fn)

        def __getattr__(self, name: str) -> Any:
            return Stub(name)

    def operator(kind: str) -> Callable[..., object]:
        def make(name: str, fn: object = None, /, *_: object, **__: object) -> object:
            def decorator(function: object) -> object:
                recorder.note(kind, name, function)
                return Operator(recorder, name)

            return decorator(fn) if callable(fn) else decorator

        return make

    def register(kind: str) -> Callable[..., object]:
        def make(op: object, *given: object, lib: Any = None, **named: object) -> object:
            if isinstance(op, Library) and given:
                lib, op, given = op, given[0], given[1:]
            qualified = name_of(op, getattr(lib, "namespace", ""))
            return _register(recorder, kind, qualified, [*given, *(named[k] for k in ("func", "fn") if k in named)])

        return make

    def register_autograd(op: object, backward: object, /, *_: object, setup_context: object = None, **__: Any) -> None:
        recorder.note("register_autograd", op, backward, setup_context)

    kinds = ["register_fake", "impl_abstract", "register_kernel", "register_vmap", "register_torch_dispatch", "impl"]
    return {
        "Library": Library,
        **{kind: register(kind) for kind in kinds},
        **{kind: operator(kind) for kind in ("custom_op", "triton_op")},
        "register_autograd": register_autograd,
        "define": lambda *_, **__: None,
        "infer_schema": lambda *_, **__: "() -> ()",
        "wrap_triton": lambda function: function,
        "CustomOpDef": Operator,
    }


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the tree's own modules, and a stub for all others that are not of the standard library."""

    def __init__(self, root: Path, recorder: Recorder) -> None:
        self._root = root
        self._given = torch_library(recorder)
        self._ops = Namespaces(recorder)
        self._roots = sorted({root, *(p.parent.parent for p in root.rglob("__init__.py") if _topmost(p.parent))})
        self._executed: dict[Path, dict[str, Any]] = {}
        self.skipped: list[str] = []

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """A spec for every module but those of the standard library."""
        head = fullname.partition(".")[0]
        if (head in sys.stdlib_module_names and head not in _HELD) or head == "__main__":
            return None
        place = None if head == "torch" and not (self._root / "torch").is_dir() else self._place(fullname)
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=place is None or place.suffix != ".py")
        if place is not None and place.name == "__init__.py":
            spec.submodule_search_locations = [str(place.parent)]
        spec.loader_state = place
        return spec

    def _place(self, fullname: str) -> Path | None:
        """The file of a module of the tree, or its folder."""
        for root in self._roots:
            path = root.joinpath(*fullname.split("."))
            for file in (path / "__init__.py", path.with_name(path.name + ".py")):
                if file.is_file():
                    return file
            if path.is_dir() and next(path.glob("**/*.py"), None) is not None:
                return path
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """A module that is empty, or gives a stub for each name."""
        module = types.ModuleType(spec.name)
        if spec.loader_state is None:
            made = Stub(spec.name)
            submodules = {"torch": ("library", "_library", "_custom_op", "_custom_ops")}.get(spec.name, ())

            def attribute(name: str) -> Any:
                return importlib.import_module(f"torch.{name}") if name in submodules else getattr(made, name)

            module.__dict__.update(__all__=[], __getattr__=attribute, __version__=VERSION)
            if spec.name == "torch":
                module.__dict__.update(ops=self._ops)
            elif spec.name.startswith(("torch.library", "torch._library", "torch._custom_op")):
                module.__dict__.update(self._given)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the statements of a module of the tree, each by itself."""
        place = module.__spec__.loader_state if module.__spec__ is not None else None
        if place is None or place.is_dir():
            return
        if place in self._executed:
            module.__dict__.update(self._executed[place])
            return
        module.__file__ = str(place)
        self._executed[place] = module.__dict__
        try:
            tree = ast.parse(place.read_bytes())
        except (SyntaxError, ValueError, RecursionError) as error:
            self.skipped.append(f"{place}:1: {error}")
            return
        self._run(tree.body, module.__dict__, str(place))

    def module_of(self, path: Path) -> str:
        """The name by which the tree itself imports a file."""
        root = max((root for root in self._roots if root in path.parents), key=lambda root: len(root.parts))
        parts = list(path.relative_to(root).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    def _run(self, statements: Sequence[ast.stmt], names: dict[str, Any], path: str) -> None:
        for statement in statements:
            match statement:
                case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                    continue
                case ast.If(test=test, body=body, orelse=orelse):
                    holds = self._holds(test, names, path)
                    for branch in (orelse, body) if holds else (body, orelse):
                        self._run(branch, names, path)
                case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                    for handler in handlers:
                        names |= {handler.name: Stub("error")} if handler.name else {}
                        self._run(handler.body, names, path)
                    self._run([*body, *orelse, *final], names, path)
                case _:
                    self._statement(statement, names, path)

    def _holds(self, test: ast.expr, names: dict[str, Any], path: str) -> bool:
        try:
            return bool(eval(compile(ast.Expression(test), path, "eval", dont_inherit=True), names))
        except BaseException:
            return True

    def _statement(self, statement: ast.stmt, names: dict[str, Any], path: str) -> None:
        module = ast.Module([statement], [])
        flags = __future__.annotations.compiler_flag
        try:
            exec(compile(module, path, "exec", flags, dont_inherit=True), names)
        except BaseException as error:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                for alias in statement.names:
                    names.setdefault((alias.asname or alias.name).partition(".")[0], Stub(alias.name))
            if not isinstance(statement, ast.Raise):
                self.skipped.append(f"{path}:{statement.lineno}: {type(error).__name__}: {str(error)[:200]}")


def _topmost(folder: Path) -> bool:
    return not (folder.parent / "__init__.py").is_file()


def _without_writing(opening: Callable[..., Any]) -> Callable[..., Any]:
    """`open`, with a file in memory for whatever is to be written."""

    def opened(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
        if isinstance(mode, str) and set(mode) & set("wax+"):
            return io.BytesIO() if "b" in mode else io.StringIO()
        return opening(file, mode, *given, **named)

    return opened


def _refuse(event: str, given: tuple[Any, ...]) -> None:
    writes = event == "open" and (set(given[1] or "") & set("wax+") or (given[2] or 0) & _WRITING)
    if writes or event.startswith(_REFUSED):
        raise PermissionError(event)


def _expired(*_: object) -> None:
    raise TimeoutError(f"{SECONDS} s")


def main() -> None:
    """Run the program."""
    root = Path(sys.argv[1]).resolve()
    paths = sys.stdin.read().split("\n")
    output, sys.stdout, sys.stderr = sys.stdout, io.StringIO(), io.StringIO()
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(3000)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    recorder = Recorder(str(root))
    modules = Modules(root, recorder)
    for name in [name for name in sys.modules if name.partition(".")[0] in _HELD]:
        del sys.modules[name]
    sys.meta_path.insert(0, modules)
    signal.signal(signal.SIGVTALRM, _expired)
    builtins.exit = builtins.quit = Stub("exit")  # type: ignore[assignment]
    sys.argv, sys.path = ["python"], [entry for entry in sys.path if "site-packages" not in entry]
    tempfile.gettempdir()  # which is looked for by writing
    builtins.open = io.open = _without_writing(builtins.open)
    os.mkdir = os.makedirs = lambda *_, **__: None  # type: ignore[assignment]
    sys.addaudithook(_refuse)
    for path in filter(None, paths):
        name = modules.module_of(root / path)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            if name not in sys.modules:
                __import__(name)
        except BaseException as error:
            modules.skipped.append(f"{root / path}:1: {type(error).__name__}: {str(error)[:200]}")
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    skipped = [line.replace(str(root) + os.sep, "") for line in modules.skipped]
    document = {"registered": [list(entry) for entry in recorder.registered], "skipped": skipped}
    output.write(json.dumps(document))
    output.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
