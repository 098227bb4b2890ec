"""`python -m codemod.cli` is `symfix`."""

from codemod.cli import main

main()
