"""The tree that is read: where it is, which files it holds, what is configured for it and what is kept of it."""
