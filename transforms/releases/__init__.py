"""What each release of torch has, as data that travels with symfix, and for which of them a tree is written."""
