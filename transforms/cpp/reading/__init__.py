"""What one C++ file says by itself: its syntax, functions, types and registrations. Nothing here knows another file."""

SUFFIXES = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".cu", ".cuh", ".hip", ".mm")
"""The ends of the names of files that are read as C++."""
