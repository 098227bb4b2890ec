"""What `scan` and `rule` print, for people, editors and CI services. It selects no findings."""
