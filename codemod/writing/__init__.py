"""From chosen changes to bytes: new contents, unified diffs, and writes that are all or nothing."""
