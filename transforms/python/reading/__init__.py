"""What one Python file says by itself. Nothing here knows another file."""
