"""The tree that is read: its checkout, files, configuration and cache, and every call of git."""
