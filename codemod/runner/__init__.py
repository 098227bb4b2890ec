"""The target's interpreter runs this: it makes inputs and compares. Imports only the standard library and torch."""
