"""Which operators the public functions of torch.nn.functional end in."""

from __future__ import annotations

from transforms.python.reading.public_names import operators_by_function, public_names

SOURCE = b"""
def cross(input, target):
    if has_torch_function(input):
        return handle_torch_function(cross, (input,), input)
    return torch._C._nn.cross_loss(input, target)

def clip(input, inplace=False):
    if inplace:
        result = torch.clip_(input)
    else:
        result = torch.clip(input)
    return result

def drop(input, inplace=False):
    return _VF.drop_(input) if inplace else _VF.drop(input)

def _pool(x):
    return torch.pool(x)

def pool_with_indices(x):
    return torch._C._nn.pool_with_indices(x)

pool = boolean_dispatch(arg_name="i", default=False, if_true=pool_with_indices, if_false=_pool, func_name="pool")
bilinear = _add_docstr(torch.bilinear, "doc")

def shape_of(x):
    sizes = torch.measured(x)
    return len(sizes), sizes
"""


def test_functions_end_in_what_they_return() -> None:
    assert {name: set(ends) for name, ends in operators_by_function(public_names("f.py", SOURCE)).items()} == {
        "cross": {"aten::cross_loss"},
        "clip": {"aten::clip_", "aten::clip"},
        "drop": {"aten::drop_", "aten::drop"},
        "pool_with_indices": {"aten::pool_with_indices"},
        "pool": {"aten::pool", "aten::pool_with_indices"},
        "bilinear": {"aten::bilinear"},
    }


def test_broken_source_has_no_names() -> None:
    assert public_names("f.py", b"def f(:") == ()
