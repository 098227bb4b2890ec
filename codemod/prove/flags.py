"""The compiler's flags that a checkout's compile_commands.json gives for its sources.

The file is the checkout's, so only flags on a list are allowed: those that decide how a source is read. A compiler also
takes flags that load plugins, run programs and write files (-fplugin, -wrapper, -B, -specs, -fdump-…, -fmodule-mapper,
@FILE, …): https://gcc.gnu.org/onlinedocs/gcc/Invoking-GCC.html and https://clang.llvm.org/docs/UsersManual.html.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codemod.borders.documents import check, load_json
from codemod.borders.files import read_file
from codemod.errors import SymfixError

NAME = "compile_commands.json"
_REMEDY = "make it again, or remove it"
_SHAPE = [{"directory": Path, "file": Path, "command?": str, "arguments?": [str], "output?": str}]

_FOLDERS = ("-isystem", "-iquote", "-idirafter", "-I")
_SWITCHES = (
    "access-control|aligned-new|associative-math|builtin|char8_t|check-new|concepts|coroutines|delayed-template-parsing"
    "|delete-null-pointer-checks|elide-constructors|exceptions|extern-tls-init|fast-math|finite-math-only|freestanding"
    "|gnu-keywords|gnu89-inline|hosted|implicit-templates|math-errno|ms-compatibility|ms-extensions|new-inheriting-ctors"
    "|openmp|openmp-simd|operator-names|permissive|PIC|pic|PIE|pie|reciprocal-math|relaxed-template-template-args|rounding-math"
    "|rtti|semantic-interposition|short-enums|short-wchar|signed-char|signed-zeros|sized-deallocation|strict-aliasing"
    "|strict-enums|strict-overflow|threadsafe-statics|trapping-math|trapv|unsafe-math-optimizations|unsigned-char"
    "|visibility-inlines-hidden|visibility-ms-compat|wrapv"
)
_VALUES = (
    "abi-version|constexpr-cache-depth|constexpr-depth|constexpr-loop-limit|constexpr-ops-limit|constexpr-steps"
    "|excess-precision|exec-charset|fp-contract|fp-model|input-charset|openmp|openmp-version|strict-overflow"
    "|template-depth|visibility|wide-exec-charset"
)
_PROCESSOR = (
    "3dnow|adx|aes|altivec|amx|avx|bmi|clflush|clwb|cx16|f16c|fma|fsgsbase|gfni|hle|lzcnt|mmx|movbe|movdir|pclmul"
    "|popcnt|power|prfchw|rdrnd|rdseed|rtm|sha|sse|ssse|vaes|vpclmulqdq|vsx|xsave"
)
# -f and -m flags that say what the language or the processor is.
_ALLOWED = re.compile(
    rf"--?std=[\w+]+|-ansi|-pthread|-nostdinc(\+\+)?|-stdlib=[\w+]+|-f(no-)?({_SWITCHES})|-fno-[a-z0-9-]+"
    rf"|-f({_VALUES})=[\w.+-]+|-m(32|64|x32|bionic|glibc|musl)|-m(arch|tune|cpu|abi|fpu|float-abi|cmodel)=[\w.+-]+"
    rf"|-mprefer-vector-width=\w+|-m(no-)?({_PROCESSOR})[\w.-]*"
)
# Flags that do not decide how a source is read: the kind of output, warnings, optimisation, debugging, the linker.
_OF_NO_INTEREST = re.compile(
    r"-c|-S|-E|-w|-[OgW](?![lpa],).*|-pipe|-pedantic(-errors)?|-M[MDGP]*|-[lL].+|-s|-v|-f(color-)?diagnostics-.*"
    r"|-f(function|data)-sections|-flto(=[\w.-]+)?|-f(debug|file|macro|profile)-prefix-map=.*|-fstack-.*|-fcf-protection.*"
    r"|-fomit-frame-pointer|-ftree-.*|-funroll-.*|-finline-.*|-fvectorize|-fslp-vectorize|--param=.*|-rdynamic|-shared"
)
_OF_NO_INTEREST_WITH_A_VALUE = ("-o", "-MF", "-MT", "-MQ", "-l", "-L", "--param")
_LEFT_OUT_WITH_A_VALUE = (
    "-Xclang", "-Xpreprocessor", "-Xassembler", "-Xlinker", "-mllvm", "-wrapper", "-specs", "-B", "-x", "-imacros",
    "-include-pch", "--sysroot", "-isysroot", "-target", "-arch", "-T", "-u", "-z",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Database:
    """The flags of a compilation database. `left_out` counts the flags that are not allowed, by their texts."""

    flags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The flags for each source, by its path relative to the root."""
    left_out: Counter[str] = field(default_factory=Counter)

    def left_out_line(self) -> str:
        """How many flags are left out, with the commonest as an example; "" where none is."""
        if not self.left_out:
            return ""
        count, example = len(self.left_out), self.left_out.most_common(1)[0][0]
        flags = "1 compiler flag is" if count == 1 else f"{count} compiler flags are"
        return f"{NAME}: {flags} left out, for not only saying how a source is read: {ascii(example)[1:-1]}"


def compile_flags(root: Path) -> Database:
    """The flags for each source of the checkout; none where it has no such file.

    Only flags that decide how a source is read are returned, with folders made absolute. See
    https://clang.llvm.org/docs/JSONCompilationDatabase.html. Raises SymfixError where the file cannot be read.
    """
    path = next((p for p in (root / NAME, root / "build" / NAME) if p.is_file()), None)
    database = Database()
    if path is None:
        return database
    try:
        document = load_json(read_file(path), str(path), _REMEDY)
        check(document, _SHAPE)
        for entry in document:
            folder = os.path.join(root, entry["directory"])
            source = os.path.normpath(os.path.join(folder, entry["file"]))
            if source.startswith(inside := os.path.join(root, "")):
                arguments = entry["arguments"] if "arguments" in entry else shlex.split(entry.get("command", ""))
                flags = tuple(_allowed_flags(arguments[1:], folder, root, database.left_out))
                database.flags[source[len(inside) :]] = flags
    except (OSError, ValueError) as error:
        raise SymfixError(f"{path}: not a compilation database: {error}; {_REMEDY}") from error
    return database


def _allowed_flags(arguments: Sequence[str], folder: str, root: Path, left_out: Counter[str]) -> Iterator[str]:
    """The allowed flags of one source; the others are counted, but for those of no interest."""
    waiting = iter(arguments)
    for argument in waiting:
        if "\0" in argument:
            left_out[argument] += 1
        elif argument in _OF_NO_INTEREST_WITH_A_VALUE:
            next(waiting, "")
        elif argument in ("-D", "-U", "-include", *_FOLDERS, *_LEFT_OUT_WITH_A_VALUE):
            value = next(waiting, "")
            if not value or "\0" in value or argument in _LEFT_OUT_WITH_A_VALUE:
                left_out[f"{argument} {value}"] += 1
            elif argument == "-include":
                yield from _forced(value, folder, root, left_out)
            elif argument in ("-D", "-U"):
                yield argument + value
            else:
                yield from _folder(argument, value, folder)
        elif argument.startswith(("-D", "-U")) or _ALLOWED.fullmatch(argument):
            yield argument
        elif argument.startswith(_FOLDERS):
            name = next(name for name in _FOLDERS if argument.startswith(name))
            yield from _folder(name, argument.removeprefix(name), folder)
        elif argument.startswith(("-", "@")) and not _OF_NO_INTEREST.fullmatch(argument):
            left_out[argument] += 1


def _folder(name: str, value: str, folder: str) -> list[str]:
    path = os.path.normpath(os.path.join(folder, value))
    return [f"-I{path}"] if name == "-I" else [name, path]


def _forced(value: str, folder: str, root: Path, left_out: Counter[str]) -> list[str]:
    """The flags that include a header before a source: one of the tree, and none that was compiled before.

    A compiler takes `NAME.gch` or `NAME.pch` in the place of `NAME`: an image of its memory, which it does not check.
    """
    path = os.path.normpath(os.path.join(folder, value))
    inside = os.path.realpath(path).startswith(f"{os.path.realpath(root)}{os.sep}")
    if inside and not any(os.path.lexists(path + suffix) for suffix in (".gch", ".pch")):
        return ["-include", path]
    left_out[f"-include {value}"] += 1
    return []
