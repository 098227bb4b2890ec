"""`symfix fix`: what of an operator's changes is worth committing, and which change cures a program."""
