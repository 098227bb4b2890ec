"""Run the C++ analysis over a few lines: they become a small library whose functions symbolic tensors reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from codemod.model.edits import Edit, apply_edits
from codemod.model.findings import Finding, Level, Root
from codemod.model.transform import TracedLine
from transforms.cpp.analyse import analyse_tree

F = TypeVar("F")
T = TypeVar("T")
W = TypeVar("W")

YAML = Path(__file__).with_name("schemas.yaml")
SCHEMAS = YAML.read_text(encoding="utf-8")
HEADER = """\
#define TORCH_SYM_CHECK(cond, ...) TORCH_CHECK((cond).expect_true(__FILE__, __LINE__), __VA_ARGS__)
#define TORCH_GUARD_OR_FALSE(cond) c10::guard_or_false((cond), __FILE__, __LINE__)
#define TORCH_GUARD_OR_TRUE(cond) c10::guard_or_true((cond), __FILE__, __LINE__)
namespace c10 {
class SymInt { SymInt(int64_t); int64_t guard_int(const char* file, int64_t line) const; };
class SymBool { SymBool(bool); bool expect_true(const char* file, int64_t line) const; SymInt toSymInt() const; };
class SymFloat { SymFloat(double); };
class SymIntArrayRef { SymIntArrayRef(int); };
SymIntArrayRef fromIntArrayRefSlow(IntArrayRef array);
SymBool sym_equals(SymIntArrayRef left, SymIntArrayRef right);
struct IValue {
  SymInt toSymInt() &&; std::vector<SymInt> toSymIntVector() const; List<SymInt> toSymIntList() const;
};
struct TensorImpl {
  void set_storage_offset(int64_t storage_offset);
  void set_sizes_and_strides(SymIntArrayRef sizes, SymIntArrayRef strides, optional<SymInt> storage_offset = nullopt);
};
using SymDimVector = SmallVector<c10::SymInt, 5>;
}
namespace at {
class TensorBase {
  c10::SymInt sym_size(int64_t d) const; c10::SymIntArrayRef sym_sizes() const; c10::SymInt sym_numel() const;
  c10::SymInt sym_stride(int64_t d) const; c10::SymIntArrayRef sym_strides() const;
  c10::SymInt sym_storage_offset() const;
};
class Storage { size_t nbytes() const; c10::SymInt sym_nbytes() const; };
std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b);
std::vector<c10::SymInt> infer_size_symint(c10::SymIntArrayRef a, c10::SymIntArrayRef b);
int64_t takes_int(int64_t n);
}
"""
_DEFINED = re.compile(r"^(?!\s|struct|class|using|#)[^\n(]*?(\w+)\([^;{]*\)\s*\{", re.M)


@lru_cache(maxsize=64)
def _extracted(extract: Callable[[str, bytes], Any], path: str, content: bytes) -> Any:
    return extract(path, content)


class MemoryProject:
    """A `codemod.model.transform.Project` over files in memory."""

    def __init__(self, root: Path, files: Mapping[str, str], vocabulary: Path) -> None:
        self.root = root
        self.vocabulary: Path | None = vocabulary
        self.torch = ""
        self.traced: frozenset[TracedLine] = frozenset()
        self.remarks: list[str] = []
        self.contents = {path: text.encode() for path, text in files.items()}

    def selected(self, path: str) -> bool:
        """Everything is."""
        return True

    def recall(self, kind: str, paths: Sequence[str]) -> Mapping[str, Any]:
        """Nothing is kept."""
        return {}

    def keep(self, kind: str, values: Mapping[str, object]) -> None:
        """Nothing is kept."""

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Made anew each time."""
        return make()

    def in_scope(self, path: str, root: Root) -> bool:
        """Everything is."""
        return True

    def named(self, path: str) -> bool:
        """Nothing is."""
        return False

    def files(self, suffixes: Sequence[str], under: Sequence[str] = ("",)) -> list[str]:
        """The names that end so."""
        return sorted(path for path in self.contents if path.endswith(tuple(suffixes)))

    def has(self, path: str) -> bool:
        """Whether it is in memory or on disk."""
        return path in self.contents or (self.root / path).is_file()

    def left_out(self, suffixes: Sequence[str]) -> list[str]:
        """Nothing is."""
        return []

    def read(self, path: str) -> bytes:
        """From memory, else from disk."""
        return self.contents[path] if path in self.contents else (self.root / path).read_bytes()

    def facts(self, extract: Callable[[str, bytes], F], paths: Sequence[str]) -> Mapping[str, F]:
        """Kept by content for as long as this process runs: most projects here have the same header and schemas."""
        return {path: _extracted(extract, path, self.read(path)) for path in paths}

    def facts_of(
        self, extract: Callable[[str, bytes, W], F], wanted: Mapping[str, W], label: str = "reading"
    ) -> Mapping[str, F]:
        """Never cached."""
        return {path: extract(path, self.read(path), asked) for path, asked in wanted.items()}

    def remark(self, line: str) -> None:
        """In `remarks`."""
        self.remarks.append(line)

    def map(
        self, function: Callable[[Any], T], items: Sequence[Any], label: str = "", bytes_of: Sequence[int] = ()
    ) -> list[T]:
        """In this process."""
        return [function(item) for item in items]


def findings(root: Path, source: str, *, register: bool = True, header: str = HEADER) -> list[Finding]:
    """Every finding in `source`, each of whose functions is registered as a composite kernel where that is asked."""
    names = [name for name in _DEFINED.findall(source) if not re.search(rf"\bstatic\b[^\n]*\b{name}\(", source)]
    registrations = "".join(f'm.impl("{name}", {name}); ' for name in names)
    library = f"\nTORCH_LIBRARY_IMPL(demo, CompositeImplicitAutograd, m) {{ {registrations} }}\n" if register else ""
    project = MemoryProject(root, {"source.cpp": source + library, "c10.h": header}, YAML)
    return [finding for finding in analyse_tree(project) if finding.path == "source.cpp"]


def converted(root: Path, source: str, level: Level = Level.REVIEW, *, header: str = HEADER) -> str:
    """`source` after every edit up to `level`."""
    edits: list[Edit] = [edit for f in findings(root, source, header=header) if f.level <= level for edit in f.edits]
    whole = apply_edits((source + "\n").encode(), edits)
    return whole.decode().removesuffix("\n")


def refusals(root: Path, source: str) -> list[str]:
    """The refusals in `source`, in order."""
    return [f.refusal for f in sorted(findings(root, source), key=lambda f: f.start) if f.refusal]
