"""The review as one self-contained HTML page."""
