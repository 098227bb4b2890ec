"""Tensors that a kernel makes: `at::empty({n}, x.options())`, `x.new_zeros(…)`, `torch::empty_like(x)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from transforms.cpp.coverage.aten import is_null
from transforms.cpp.coverage.body import FACTORIES
from transforms.cpp.coverage.values import CPU, Options, Underivable, Value, joined
from transforms.cpp.reading.tree import Node

_OF_ATEN = re.compile(r"(?:at|torch)::(?:native::|(stable::))?(\w+)$")
_DEVICE = re.compile(r"(?:at|c10|torch(?:::stable)?)::Device$")
_NO_OPTION = ("requires_grad", "pinned_memory")
"""Options that make no difference to what a fake says."""


class Factories:
    """Translates the calls that make tensors; `value` translates their arguments."""

    def __init__(self, value: Callable[[Node], Value]) -> None:
        self._value = value

    def function(self, name: str, arguments: Sequence[Node]) -> Value | None:
        """A call of a free function, None where it is none of a factory."""
        match = _OF_ATEN.match(name)
        if _DEVICE.match(name) and len(arguments) == 1:
            device = self._value(arguments[0])
            return device if device.kind == "device" else None
        if name == "c10::TensorOptions" or (match is not None and match[2] in ("TensorOptions", "dtype", "device")):
            return self._options(name.rpartition("::")[2], arguments)
        if match is None or not arguments:
            return None
        stable, base = match.groups()
        if stable is not None and base.startswith("new_"):
            return self.method(self._value(arguments[0]), base, arguments[1:])
        if base in FACTORIES:
            fill = FACTORIES[base]
            sizes = self._value(arguments[0])
            return self._made(base, sizes, arguments[1 : 1 + fill], arguments[1 + fill :], None)
        if base.endswith("_like") and base.removesuffix("_like") in FACTORIES:
            tensor = self._value(arguments[0])
            fill = FACTORIES[base.removesuffix("_like")]
            return self._alike(base, tensor, arguments[1 : 1 + fill], arguments[1 + fill :])
        return None

    def method(self, tensor: Value, name: str, arguments: Sequence[Node]) -> Value | None:
        """A call of a method of a tensor that gives a tensor, None where it is not understood."""
        base = name.removeprefix("new_")
        if name.startswith("new_") and base in FACTORIES and arguments:
            fill = FACTORIES[base]
            return self._made(base, self._value(arguments[0]), arguments[1 : 1 + fill], arguments[1 + fill :], tensor)
        if name in ("contiguous", "clone", "detach") and not arguments:
            fresh = tensor.fresh or name == "clone"
            return Value("tensor", f"{tensor.operand}.{name}()", tensor.names, fresh=fresh)
        if name == "to" and len(arguments) == 1 and not tensor.optional:
            device = self._value(arguments[0])
            if device.kind == "device":
                return Value(
                    "tensor", f"{tensor.operand}.to({device.text})", joined(tensor, device), fresh=tensor.fresh
                )
        return None

    def with_option(self, value: Value, name: str, arguments: Sequence[Node]) -> Value | None:
        """Options with one more: `x.options().dtype(at::kLong)`."""
        if name in _NO_OPTION:
            return value
        if len(arguments) != 1:
            return None
        added = self._value(arguments[0])
        if (name, added.kind) not in (("dtype", "dtype"), ("device", "device"), ("memory_format", "format")):
            return None
        part = "format" if name == "memory_format" else name
        return replace(value, names=joined(value, added), options=replace(value.options, **{part: added.text}))

    def _options(self, name: str, arguments: Sequence[Node]) -> Value | None:
        if name == "TensorOptions" and not arguments:
            return Value("options", "")
        if len(arguments) != 1:
            return None
        added = self._value(arguments[0])
        if added.kind not in ("dtype", "device"):
            return None
        return Value("options", "", added.names, options=replace(Options(), **{added.kind: added.text}))

    def _joined_options(self, arguments: Sequence[Node]) -> Value:
        """The options that stand last in a factory's call: as one, or as a dtype, a device or a memory format alone.

        Nothing, and whether memory is pinned, make no difference.
        """
        joined_value = Value("options", "")
        for argument in arguments:
            if is_null(argument):
                continue
            value = self._value(argument)
            if value.kind == "bool" and value.settled:
                continue
            names = joined(joined_value, value)
            if value.kind == "options":
                joined_value = replace(value, names=names)
            elif value.kind in ("dtype", "device", "format"):
                options = replace(joined_value.options, **{value.kind: value.text})
                joined_value = replace(joined_value, names=names, options=options)
            else:
                raise Underivable(f"`{argument.excerpt}`")
        return joined_value

    def _made(
        self, base: str, sizes: Value, fills: Sequence[Node], rest: Sequence[Node], tensor: Value | None
    ) -> Value | None:
        if sizes.kind != "ints":
            return None
        said = self._joined_options(rest)
        options = said.options
        like = tensor.operand if tensor is not None else options.like
        used = joined(sizes, said, *([tensor] if tensor is not None else []))
        if tensor is not None and options.like:  # the options of another tensor
            options = replace(options, dtype=options.dtype or f"{options.like}.dtype",
                              device=options.device or f"{options.like}.device")  # fmt: skip
        texts = [sizes.text, *(self._fill(fill) for fill in fills)]
        if options.dtype:
            texts.append(f"dtype={options.dtype}")
        elif not like and base == "full":
            return None  # its dtype is that of the number
        # Without a tensor to be like, C++ makes it on the CPU, whatever the default device of Python is.
        if options.device or not like:
            texts.append(f"device={_device(options.device or CPU)}")
        if options.format and options.format != "torch.contiguous_format":
            return None
        callee = f"{like}.new_{base}" if like else f"torch.{base}"
        unset = re.search(r"[(\s]0[,)]", sizes.text) is not None
        return Value("tensor", f"{callee}({', '.join(texts)})", used, fresh=True, unset=unset)

    def _alike(self, name: str, tensor: Value, fills: Sequence[Node], rest: Sequence[Node]) -> Value | None:
        if tensor.kind != "tensor":
            return None
        said = self._joined_options(rest)
        options = said.options
        texts = [tensor.text, *(self._fill(fill) for fill in fills)]
        dtype = options.dtype or (f"{options.like}.dtype" if options.like not in ("", tensor.text) else "")
        device = options.device or (f"{options.like}.device" if options.like not in ("", tensor.text) else "")
        texts += [f"{key}={text}" for key, text in (("dtype", dtype), ("device", _device(device)),
                                                    ("memory_format", options.format)) if text]  # fmt: skip
        return Value("tensor", f"torch.{name}({', '.join(texts)})", joined(tensor, said), fresh=True)

    def _fill(self, node: Node) -> str:
        """What the tensor is filled with: no matter of its shape, where it is no plain number."""
        try:
            value = self._value(node)
        except Underivable:
            return "0"
        return value.text if value.kind in ("int", "float", "bool") and value.settled else "0"


def _device(text: str) -> str:
    """A device as it is passed, where its name says the same."""
    return '"cpu"' if text == CPU else text
