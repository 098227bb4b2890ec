"""From a tree to a plan, and the selection of its findings that options ask for; baselines and stored decisions."""
