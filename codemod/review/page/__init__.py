"""The review as one HTML page that needs nothing beside it."""
