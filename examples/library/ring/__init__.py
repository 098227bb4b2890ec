"""Operators on rings of rows. Importing it registers them: those of C++ with the compiled module."""

from ring import _C, kernels, ops

__all__ = ["_C", "kernels", "ops"]
