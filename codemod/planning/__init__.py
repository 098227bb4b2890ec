"""From a tree to a plan, and to the part of it that was asked for."""
