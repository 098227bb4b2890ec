"""What `scan` and `rule` print: for people, for editors and for CI services. Nothing here decides anything."""
