"""`symfix prove`: operators built before and after their change, laid over an installed torch, and run."""
