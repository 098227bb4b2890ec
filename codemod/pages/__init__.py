"""Pages: one HTML file each, that needs no network and lets none in; what they have in common in looks and tools."""
