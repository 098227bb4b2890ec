"""Schemas and their SymInt names agree with torchgen's over all of the installed torch's operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from transforms.schema.native_functions import load

torchgen = pytest.importorskip("torchgen", reason="torch is not installed, and torchgen comes with it")


def test_native_functions() -> None:
    from torchgen.api import cpp
    from torchgen.model import FunctionSchema

    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    loaded = load(str(path), path.read_bytes())
    source = path.read_text().splitlines()
    assert len(loaded.entries) > 2000
    for entry in loaded.entries:
        schema = entry.schema
        expected = FunctionSchema.parse(source[entry.line - 1].removeprefix("- func: "))
        assert schema.full_name == str(expected.name)
        assert schema.cpp_name == cpp.name(expected)
        assert schema.has_symint == expected.has_symint()
        kinds = {argument.name: str(argument.type) for argument in expected.arguments.flat_all}
        assert {argument.name: argument.plain_type for argument in schema.arguments} == kinds
        if expected.has_symint():
            assert set(schema.symint_names) == {
                cpp.name(expected, symint_overload=True, faithful_name_for_out_overloads=faithful)
                for faithful in (False, True)
            }
