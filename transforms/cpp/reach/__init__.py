"""Which functions of a tree a symbolic tensor reaches, and what the PyTorch at hand offers them."""
