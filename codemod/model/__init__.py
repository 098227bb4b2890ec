"""What is said about code, and how a transform says it: findings, edits, plans, decisions. It opens no file."""
