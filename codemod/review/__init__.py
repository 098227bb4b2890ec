"""The review of a plan's changes: what both its forms share, the terminal (`terminal`) and the HTML page (`page`)."""
