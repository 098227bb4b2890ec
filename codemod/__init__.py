"""The engine of symfix: trees, operators, findings, plans, git. It knows no rewrite rule."""

__version__ = "0.1.0"

__version__ = "0.1.0"
