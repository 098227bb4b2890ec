"""Which Python functions of a tree a symbolic tensor reaches, and by which path."""
