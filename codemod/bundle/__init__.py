"""From a plan to commits: one for each shard, made in the object database and proved to add up to the whole."""
