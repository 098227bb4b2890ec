"""What a running torch says about its shapes: guards, specializations, recompiles, and the lines that caused them."""
