"""What a parameter is by its annotation."""

from __future__ import annotations

import functools
import re

from transforms.python.flow.values import (
    A_BOOL,
    A_NUMBER,
    A_REAL,
    A_SIZE,
    A_STATIC,
    A_TRUTH,
    COUNT,
    FIXED_SIZES,
    NOTHING,
    PARAMETER,
    SEQUENCE,
    SIZE_NAMES,
    SOME_SHAPE,
    TENSOR,
    TENSORS,
    Value,
    maybe_none,
)

HOLDS = r"(?:[Ll]ist|[Tt]uple|Sequence|Iterable)\["
# A sequence of sequences, or a mapping, or what returns one.
NESTED = re.compile(rf"{HOLDS}[^\]]*{HOLDS}|\b(?:[Dd]ict|Mapping|Callable)\[")
OPTIONAL = re.compile(r"\b(?:Optional|None)\b")
NUMBERS = re.compile(r"(?:(?:builtins\.)?(?:int|float|complex|bool|SymInt|SymFloat|Number|NumberType)(?:\s*\|\s*|$))+")
# The words of an annotation that Tensors alone fit, whether one or a sequence of them.
TENSOR_WORDS = frozenset(
    {"Tensor", "TensorLike", "TensorLikeType", "TensorList", "TensorSequenceType", "Parameter", "torch", "nn", "None",
     "Optional", "typing", "Union", "List", "list", "Tuple", "tuple", "Sequence", "Iterable"}
)  # fmt: skip
# A class by the way it is written, and those that may stand for a Tensor, or hold its sizes, all the same.
CLASS = re.compile(r"_?[A-Z]\w*[a-z]\w*|ndarray")
TENSOR_LIKE = re.compile(r"Tensor|Like|Storage|Variable|Parameter|Proxy|Node|Box|Mask|^(?:Any|Self|Size)$|T$")
_INTS = re.compile(rf"(?:[\w.]+\.)?{HOLDS}int(?:, (?:int|\.\.\.))*\]")


@functools.lru_cache(maxsize=4096)
def annotated(annotation: str, name: str) -> Value:
    """What a parameter is by its annotation and, for ranks and dims, its name."""
    text = re.sub(r"^(?:typing\.)?Optional\[(.*)\]$", r"\1 | None", annotation.replace("torch.", ""))
    number = number_of(text)
    if COUNT.search(name):
        return number
    if NESTED.search(text):
        return NOTHING  # what an element is would take more than one step
    sure = set(re.findall(r"\w+", text)) <= TENSOR_WORDS
    if re.search(rf"\b(?:TensorSequenceType|TensorList)\b|{HOLDS}.*Tensor", text):
        return Value(TENSORS, sure=sure)
    if re.search(r"\b(?:Tensor|TensorLike|TensorLikeType|Parameter)\b", text):
        return Value(TENSOR, sure=sure)
    if re.search(r"\b(?:ShapeType|StrideType|Size)\b|\[(?:.*\W)?(?:SymInt|IntLikeType)\b", text):
        return SOME_SHAPE
    if re.search(r"\b(?:SymInt|IntLikeType)\b", text):
        return maybe_none(A_SIZE) if OPTIONAL.search(text) else A_SIZE
    if re.search(r"\b(?:SymBool|BoolLikeType)\b", text):
        return A_TRUTH
    if not text or re.search(r"\bint\b", text):
        return Value(PARAMETER, frozenset({name}), sure=bool(text), optional=OPTIONAL.search(text) is not None)
    return A_STATIC if not number.scalar and names_other_class(annotation) else number


def number_of(annotation: str) -> Value:
    """A number or a bool, where an annotation fits nothing else, or what nothing is known of."""
    if annotation == "bool":
        return A_BOOL
    if NUMBERS.fullmatch(annotation) and re.search("float|complex|Number", annotation):
        return A_REAL
    return A_NUMBER if NUMBERS.fullmatch(annotation.replace("torch.", "")) else NOTHING


@functools.lru_cache(maxsize=4096)
def names_other_class(annotation: str) -> bool:
    """Whether an annotation, or a callee, names classes that are no Tensors, as far as their names say."""
    bare = re.sub(r"^Optional\[(.*)\]$|[\"']", r"\1", re.sub(r"^typing\.", "", annotation.strip("\"'")))
    classes = [name.strip().rpartition(".")[2] for name in bare.split("|") if name.strip() != "None"]
    return bool(classes) and all(CLASS.fullmatch(name) and not TENSOR_LIKE.search(name) for name in classes)


def of_root(annotation: str, name: str) -> Value:
    """What an operator's own parameter is: nobody in the tree calls it, so sizes go by their name."""
    value = annotated(annotation, name)
    if value.kind != PARAMETER:
        return value
    sized = SIZE_NAMES.search(name) and not FIXED_SIZES.search(name)
    many = not annotation or re.search(r"[Ll]ist|[Tt]uple|Sequence", annotation)
    if sized and many:
        return SOME_SHAPE
    return number_of(annotation) if OPTIONAL.search(annotation) else of_annotation(annotation)


def of_annotation(annotation: str) -> Value:
    """What a parameter is that is given no size: a number or a sequence of ints, or nothing is known of it."""
    bare = re.sub(r"^(?:typing\.)?Optional\[(.*)\]$", r"\1", annotation)
    bare = " | ".join(part for part in re.split(r"\s*\|\s*", bare) if part != "None")
    return Value(SEQUENCE, items=(A_NUMBER,)) if _INTS.fullmatch(bare) else number_of(bare)
