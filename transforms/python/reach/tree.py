"""All files together: modules by name, and which definition a callee as written means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from transforms.python.flow.imported import meanings
from transforms.python.reach.applied import Applied
from transforms.python.reach.lineage import ClassPlace, Lineages
from transforms.python.reach.modules import Modules
from transforms.python.reach.packages import Place, import_path, module_of, place_of, places_of
from transforms.python.reading.facts import FileFacts, Function


class Definition:
    """A function in its file."""

    __slots__ = ("function", "path")

    def __init__(self, path: str, function: Function) -> None:
        self.path = path
        self.function = function

    @property
    def place(self) -> str:
        """Path, line and name, for a reader."""
        return f"{self.path}:{self.function.line} {self.function.name}"


class SourceTree:
    """The Python files of a checkout by module name. `package` is the root's own name where the root is a package.

    Where several files would have one name, it is that of the file whose package lies nearest to the root.
    """

    def __init__(self, facts: Mapping[str, FileFacts], package: str = "") -> None:
        self.package = package
        imported = {target for file_facts in facts.values() for _, target in file_facts.imports}
        self._places = places = places_of(facts, imported, package)
        self._names = {path: place.module for path, place in places.items()}
        self._import_paths = {path: import_path(path, place, package) for path, place in places.items()}
        self.modules: dict[str, str] = {}
        for path in sorted(facts, key=lambda path: places[path].root.count("/") + bool(places[path].root)):
            self.modules.setdefault(self._names[path], path)
        by_path = {module_of(path): path for path in facts}
        self.facts = {path: self._absolute(file_facts, places[path], by_path) for path, file_facts in facts.items()}
        self._functions = {path: {f.name: f for f in file_facts.functions} for path, file_facts in facts.items()}
        self._imports = {path: dict(file_facts.imports) for path, file_facts in self.facts.items()}
        self._meanings: dict[str, dict[str, str]] = {}
        self._definitions: dict[tuple[str, str], Definition] = {}
        self._located: dict[str, tuple[str, str]] = {}
        self._meant: dict[tuple[str, str], Definition | None] = {}
        """What names mean at the top of files, as far as it was asked."""
        self.lineages = Lineages(self)
        self._applied = Applied(self, self.lineages)
        self._modules = Modules(self, self.lineages)

    def place(self, path: str) -> Place:
        """Where a file is imported from, also one that there is not yet."""
        return self._places.get(path) or place_of(path, self._places)

    def module_name(self, path: str) -> str:
        """`torch._refs` for `torch/_refs/__init__.py`; the folders around a package, such as `src`, are none."""
        return self._names[path]

    def import_path(self, path: str) -> str:
        """`torch/_refs/__init__.py` for the module `torch._refs`, wherever its package lies in the tree."""
        return self._import_paths[path]

    def _absolute(self, facts: FileFacts, place: Place, by_path: Mapping[str, str]) -> FileFacts:
        """`facts` with the names by which what is imported relatively is known, which begin in the tree's root."""
        if not any(target.startswith(".") for _, target in facts.imports):
            return facts
        outer = f".{place.root.replace('/', '.')}." if place.root else "."
        imports = []
        for name, target in facts.imports:
            if target.startswith("."):
                whole, around = target[1:], target[1:].rpartition(".")[0]
                dotted = next((part for part in (whole, around) if part in by_path), None)
                if dotted is None:
                    target = absolute(f".{target.removeprefix(outer)}", self.package)
                else:
                    module = self._names[by_path[dotted]]
                    if self.modules[module] != by_path[dotted]:
                        continue  # another file has its name
                    target = ".".join(filter(None, [module, whole[len(dotted) :].strip(".")]))
            imports.append((name, target))
        return facts._replace(imports=tuple(imports))

    def definition(self, path: str, name: str) -> Definition | None:
        """The function of that qualified name in a file."""
        function = self._functions[path].get(name) if path in self._functions else None
        if function is None:
            return None
        key = (path, name)
        definition = self._definitions.get(key)
        if definition is None:
            definition = self._definitions[key] = Definition(path, function)
        return definition

    def namesakes(self, definition: Definition) -> Iterator[Definition]:
        """The definitions of the same name before it, of which the one that is in force may be."""
        for number in count(1):
            namesake = self.definition(definition.path, f"{definition.function.name}#{number}")
            if namesake is None:
                return
            yield namesake

    def overriding(self, caller: Definition, callee: str) -> list[Definition]:
        """What `self.callee` may mean inside a method of a class where the object is of one below it."""
        head, _, name = callee.partition(".")
        if head not in ("self", "cls") or not name or "." in name or not caller.function.method:
            return []
        return self.lineages.overriding(ClassPlace(caller.path, caller.function.name.rpartition(".")[0]), name)

    def inside(self, definition: Definition) -> list[Definition]:
        """The functions that are defined in a function, and in those."""
        outer, path = f"{definition.function.name}.", definition.path
        names = (name for name in self._functions[path] if name.startswith(outer))
        return [inner for name in names if (inner := self.definition(path, name)) is not None]

    def definitions(self) -> list[Definition]:
        """Every function of the tree."""
        return [d for p, names in self._functions.items() for n in names if (d := self.definition(p, n)) is not None]

    def resolve(self, caller: Definition, callee: str) -> Definition | None:
        """What `callee` means inside `caller`; None where it is not in the tree, or a method of who knows what.

        That of `apply` of a torch.autograd.Function is its `forward`.
        """
        return self._resolve(caller, callee) or next(iter(self._applied.runs(caller, callee)), None)

    def applied(self, caller: Definition, callee: str) -> tuple[Definition, ...]:
        """What `callee` runs where it is `apply` of a torch.autograd.Function: `forward`, and what goes with it."""
        return self._applied.runs(caller, callee) if self._resolve(caller, callee) is None else ()

    def of_module(self, method: Definition) -> bool:
        """Whether a method is one of a module of torch.nn."""
        return self._modules.has(method)

    def may_apply(self, callee: str) -> bool:
        """Whether a callee has a name by which some file calls `apply` of a class."""
        return callee.rpartition(".")[2] in self._applied.names

    def _resolve(self, caller: Definition, callee: str) -> Definition | None:
        head, _, rest = callee.partition(".")
        if not rest:
            scope = caller.function.name
            while scope:
                nested = self.definition(caller.path, f"{scope}.{callee}")
                if nested is not None and not nested.function.method:
                    return nested
                scope = scope.rpartition(".")[0]
        elif head in ("self", "cls") and "." not in rest and caller.function.method:
            return self.lineages.method(ClassPlace(caller.path, caller.function.name.rpartition(".")[0]), rest)
        return self.globally(caller.path, callee)

    def globally(self, path: str, callee: str) -> Definition | None:
        """What `callee` means at the top of a file."""
        key = (path, callee)
        if key not in self._meant:
            self._meant[key] = self._globally(path, callee, 0)
        return self._meant[key]

    def _globally(self, path: str, callee: str, depth: int) -> Definition | None:
        definition = self.definition(path, callee)
        if definition is not None or depth > 3:
            return definition
        head, _, rest = callee.partition(".")
        target = self.imported(path, head)
        module, name = self.bound(f"{target}.{rest}" if rest else target)
        return self._globally(module, name, depth + 1) if module not in ("", path) and name else None

    def imported(self, path: str, name: str) -> str:
        """The dotted name that an import gives `name` in a file, "" where none does."""
        return self._imports[path].get(name, "")

    def meanings(self, path: str) -> dict[str, str]:
        """What the names that a file imports stand for, see `flow.imported.meanings`."""
        meant = self._meanings.get(path)
        if meant is None:
            meant = self._meanings[path] = meanings(self.facts[path].imports, self._functions[path])
        return meant

    def imports_torch(self, path: str) -> bool:
        """Whether a file imports torch, or something of it."""
        return any(target.partition(".")[0] == "torch" for target in self._imports[path].values())

    def located(self, target: str) -> tuple[str, str]:
        """The file of the tree that a dotted name lies in, with its name there; ("", "") for what lies elsewhere."""
        place = self._located.get(target)
        if place is None:
            module, name = target, ""
            while module not in self.modules and "." in module:
                module, _, last = module.rpartition(".")
                name = f"{last}.{name}" if name else last
            place = (self.modules[module], name) if module in self.modules else ("", "")
            self._located[target] = place
        return place

    def bound(self, target: str) -> tuple[str, str]:
        """As `located`, for the name of a function or a class: of a module of that name, it is its package that has it.

        `from .psnr import psnr` in a package hides the module by what is in it.
        """
        module, name = self.located(target)
        if not module or name:
            return module, name
        package, _, name = target.rpartition(".")
        return self.modules.get(package, ""), name


def absolute(target: str, package: str) -> str:
    """The dotted name of an import, where a relative one begins in the root of the tree, which may be `package`."""
    return f"{package}{target}" if package and target.startswith(".") else target.removeprefix(".")


def tree_path(tree: SourceTree, path: str) -> str:
    """The path with the root's own package in front, as PyTorch writes it."""
    return f"{tree.package}/{path}" if tree.package else path
