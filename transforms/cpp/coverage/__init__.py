"""Operators of a library that symbols cannot pass, whatever their code asks for: no Meta kernel, and no fake."""
