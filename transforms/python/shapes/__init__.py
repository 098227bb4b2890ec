"""The shapes that a function gives along each of its paths, as far as they are written."""
