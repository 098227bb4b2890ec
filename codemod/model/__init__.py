"""The data model: findings, edits, groups, plans and decisions, and the interface of a transform. It writes no file."""
