"""What runs inside the target's interpreter: makes inputs, compiles, compares. Needs the standard library and torch."""
