"""The review on a terminal."""
