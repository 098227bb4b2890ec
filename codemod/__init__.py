"""The engine of symfix: trees, operators, findings, plans, git. It knows no rewrite rule."""

__version__ = "0.2.0.dev0"

__version__ = "0.2.0.dev0"
