"""Pull requests: their texts, and the way to open each of them once."""
