"""The rules on Python, one a file. Of several that know a place, the first in `MODULES` speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from codemod.model.transform import Rule
from transforms.python.rules import (
    assert_check,
    check_condition,
    clamped_branch,
    complex_number,
    composite_reference,
    conditional_update,
    empty_layout,
    inferred_size,
    loop_bound,
    out_variant,
    raise_check,
    resized_in_place,
    shape_branch,
    size_branch,
    size_oblivious,
    sizevars_names,
    sort_order,
    special_size_branch,
    stored_truth,
    sym_cast,
    sym_extremum,
    tensor_length,
    undecided_branch,
    warning_branch,
)
from transforms.python.writing.place import Place, Rewrite

MODULES = (
    composite_reference,
    sizevars_names,
    out_variant,
    sort_order,
    inferred_size,
    resized_in_place,
    empty_layout,
    complex_number,
    size_oblivious,
    raise_check,
    assert_check,
    check_condition,
    conditional_update,
    clamped_branch,
    warning_branch,
    special_size_branch,
    shape_branch,
    size_branch,
    stored_truth,
    sym_extremum,
    tensor_length,
    sym_cast,
    loop_bound,
    undecided_branch,
)


class Known(NamedTuple):
    """A rule with its manual page and its function."""

    rule: Rule
    rewrite: Callable[[Place], Rewrite | None]


RULES: tuple[Known, ...] = tuple(Known(module.RULE, module.rewrite) for module in MODULES)
