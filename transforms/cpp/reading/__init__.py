"""What one C++ file says by itself: its syntax, functions, types and registrations. Nothing here knows another file."""
