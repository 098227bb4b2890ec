"""`symfix prove`: operators built before and after their change, loaded over an installed torch, and run."""
