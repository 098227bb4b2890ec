"""Which files of a tree the C++ analysis reads, and what it knows of each by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from codemod.model.transform import Project
from transforms.cpp.reach import headers
from transforms.cpp.reach.device import SUFFIXES as DEVICE
from transforms.cpp.reach.extensions import Use, extension_names, uses, with_extension_names
from transforms.cpp.reach.libraries import with_libraries
from transforms.cpp.reading import SUFFIXES
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import FileFacts

# Where PyTorch keeps operators and what they call; the rest of its own folders hold none.
_PYTORCH = ("aten/src/ATen", "torch/csrc/autograd", "torch/csrc/utils", "c10/core", "c10/util")
_DEVICE_FOLDERS = (
    "aten/src/ATen/cpu/vec/",
    "aten/src/ATen/native/metal/",
    "aten/src/ATen/native/quantized/cpu/qnnpack/",
    "aten/src/ATen/native/vulkan/",
    "aten/src/ATen/test/",
)
_OTHER_FOLDERS = frozenset(
    {"android", "aten", "benchmarks", "binaries", "c10", "caffe2", "cmake", "docs", "functorch", "ios", "modules"}
    | {"scripts", "test", "third_party", "tools", "torch", "torchgen"}
)

# Three headers that lie in one folder only where PyTorch is installed: its own tree has them in three.
_INSTALLED = ("ATen/ATen.h", "c10/core/ScalarType.h", "torch/library.h")


def source_files(project: Project) -> list[str]:
    """The files whose facts matter: in a PyTorch checkout where operators and their helpers live.

    Elsewhere all but the headers of a PyTorch that is installed in the tree, which are not edited where they lie. What
    is selected by name is read in both.
    """
    everything = project.files(SUFFIXES)
    named = not project.selected("")
    if not project.has(headers.OWN_YAML):
        installed = _installed_headers(everything)
        return [path for path in everything if not path.startswith(installed) or (named and project.selected(path))]
    folders = tuple(f"{folder}/" for folder in _PYTORCH)
    return [
        path
        for path in everything
        if not _is_device_code(path)
        and (path.startswith(folders) or not is_pytorchs(path) or (named and project.selected(path)))
    ]


def _installed_headers(paths: Collection[str]) -> tuple[str, ...]:
    """The folders that hold the headers of an installed PyTorch: what its setup.py puts below torch/include."""
    present = frozenset(paths)
    folders = (path.removesuffix(_INSTALLED[0]) for path in paths if path.endswith(_INSTALLED[0]))
    return tuple(folder for folder in folders if folder and all(folder + name in present for name in _INSTALLED))


def is_pytorchs(path: str) -> bool:
    """Whether a file lies in one of PyTorch's own folders, and is of no library that stands beside them."""
    return path.partition("/")[0] in _OTHER_FOLDERS


def _is_device_code(path: str) -> bool:
    """Backends' kernels and ATen's own tests: no symbolic tensor arrives, so only their calls of helpers matter."""
    return path.startswith(_DEVICE_FOLDERS) or (path.startswith(_PYTORCH) and path.endswith(DEVICE))


class DeviceCode:
    """The files that are not read for facts, asked for the helpers they call."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._text: bytes | None = None
        self._called: dict[str, bool] = {}

    def calls(self, name: str) -> bool:
        """Whether any of them may call a function of that name."""
        if name not in self._called:
            self._called[name] = f"{name}(".encode() in self._read()
        return self._called[name]

    def calls_kernel(self, name: str) -> bool:
        """Whether any of them may call a function of at::native by that name, without the dispatcher."""
        return self.calls(f"native::{name}")

    def _read(self) -> bytes:
        if self._text is None:
            folders = tuple(f"{folder}/" for folder in _PYTORCH)
            listed = self._project.files(SUFFIXES) if self._project.has(headers.OWN_YAML) else []
            skipped = [path for path in listed if path.startswith(folders) and _is_device_code(path)]
            self._text = b"\n".join(self._project.read(path) for path in skipped)
        return self._text


def joined_facts(project: Project, paths: Sequence[str]) -> Mapping[str, FileFacts]:
    """The facts of C++ files, with the registrations that take other files to tell."""
    facts = with_libraries(project.facts(extract, paths), project.read)
    return with_extension_names(facts, partial(_used, project))


def names_of_extensions(project: Project, paths: Sequence[str]) -> set[str]:
    """What the build of C++ files may define TORCH_EXTENSION_NAME as."""
    facts = with_libraries(project.facts(extract, paths), project.read)
    return extension_names(facts, partial(_used, project))


def _used(project: Project) -> Iterator[Use]:
    """The operators that the Python of a tree names."""
    for names in project.facts(uses, project.files((".py",))).values():
        yield from names
