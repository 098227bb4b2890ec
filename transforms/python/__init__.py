"""Python: branches, checks and coercions on sizes, where a symbolic tensor arrives."""

from transforms.python.transform import PythonTransform


def transform() -> PythonTransform:
    """The transform, for the entry point."""
    return PythonTransform()
