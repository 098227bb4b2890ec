"""The report as a page: a matrix to click, and the answers of what was clicked with their lines."""
