"""What the rules share: the place they look at, and how conditions, checks and imports are written anew."""
