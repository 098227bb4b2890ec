"""Code run by the target's interpreter: makes inputs, compiles, compares. Imports only the standard library and torch."""
