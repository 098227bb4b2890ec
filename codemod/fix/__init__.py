"""`symfix fix`: what of an operator's changes is worth committing, and what to say of each step."""
