"""The review on a terminal: one change at a time, keys in, decisions out."""
