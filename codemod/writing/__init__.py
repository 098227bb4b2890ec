"""From chosen groups to files: new contents, unified diffs, and writes of which all are made or none."""
