"""Regression tests: from the script that shows a failure to a method of a test class, and where such methods stand.

The method follows test/test_dynamic_shapes.py: several sizes, `assertEqual` with eager, how often it was compiled.
"""

from __future__ import annotations

import ast
import re
import textwrap

from codemod.planning.naming import base_name

# What only the script needs: sizes are written into the loop, and these modules come with the class's file.
_DROPPED = frozenset({"sizes"})
_PLAIN = frozenset({"sys", "torch"})


def method_name(operator: str) -> str:
    """The method's name for `operator`."""
    return f"test_{re.sub(r'[^0-9A-Za-z]+', '_', base_name(operator)).strip('_').lower()}_symbolic_sizes"


def make_test(operator: str, repro: str, frames: int, backend: str) -> str:
    """The method, not indented, that shows what `repro` shows.

    `frames` is how often `backend` compiles it for all sizes.

    "" where the script cannot be written so: it compiles nothing itself, is no Python, or takes PyTorch's own samples,
    which PyTorch's tests run anyway. The modules that register a library's operators are imported in it.
    """
    try:
        tree = ast.parse(repro)
    except (SyntaxError, ValueError):
        return ""
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    plain = not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))
    sizes = _sizes(tree)
    if not {"operator", "inputs"} <= defined or "symbolic" in defined or not plain or len(sizes) < 2:
        return ""
    statements = [ast.get_source_segment(repro, node) or "" for node in tree.body if _belongs(node)]
    value = "results({}, n)" if "results" in defined else "{}(*inputs(n))"
    lines = [
        *"\n\n".join(statements).split("\n"),
        "",
        "torch._dynamo.reset()",
        f'counter = torch._dynamo.testing.CompileCounterWithBackend("{backend}")',
        "compiled = torch.compile(operator, backend=counter, dynamic=True, fullgraph=True)",
        f"for n in ({', '.join(map(str, sizes))}):",
        f"    self.assertEqual({value.format('compiled')}, {value.format('operator')})",
        f"self.assertEqual(counter.frame_count, {frames})",
    ]
    body = textwrap.indent(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)), "    ", lambda line: bool(line.strip()))
    return f"def {method_name(operator)}(self):\n{body}\n"


def make_opcheck_test(operator: str, repro: str) -> str:
    """The method, not indented, that gives what `repro` calls to `torch.library.opcheck`, for each of its sizes.

    "" where the script cannot be written so: it is no Python, or its operator is more than one call of an overload.
    """
    try:
        tree = ast.parse(repro)
    except (SyntaxError, ValueError):
        return ""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    sizes = _sizes(tree)
    if "results" in functions or not {"operator", "inputs"} <= functions.keys() or not sizes:
        return ""
    match functions["operator"].body:
        case [ast.Return(value=ast.Call(func=ast.Attribute() as overload, args=args, keywords=keywords))]:
            names = [argument.arg for argument in functions["operator"].args.args]
        case _:
            return ""
    named = f", {{{', '.join(f'{k.arg!r}: {ast.unparse(k.value)}' for k in keywords)}}}" if keywords else ""
    positional = "".join(f"{ast.unparse(argument)}, " for argument in args)
    kept = [node for node in tree.body if _belongs(node) and getattr(node, "name", "") != "operator"]
    lines = [
        *"\n\n".join(ast.get_source_segment(repro, node) or "" for node in kept).split("\n"),
        "",
        f"for n in ({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''}):",
        f"    {', '.join(names)}{',' if len(names) == 1 else ''} = inputs(n)",
        f"    torch.library.opcheck({ast.unparse(overload)}, ({positional[: -1 if len(args) == 1 else -2]}){named})",
    ]
    body = textwrap.indent("\n".join(lines), "    ", lambda line: bool(line.strip()))
    return f"def {method_name(operator).removesuffix('_symbolic_sizes')}_opcheck(self):\n{body}\n"


def _belongs(node: ast.stmt) -> bool:
    """Whether a statement of the script is part of what is shown."""
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, ast.Name) and target.id in _DROPPED for target in node.targets)
    if isinstance(node, ast.Import):
        return not {alias.name for alias in node.names} <= _PLAIN
    return isinstance(node, ast.FunctionDef)


def _sizes(tree: ast.Module) -> list[int]:
    """The value of the script's `sizes`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "sizes":
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                return []
            return [size for size in value if isinstance(size, int)] if isinstance(value, tuple) else []
    return []
