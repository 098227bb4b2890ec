"""The review in the terminal: the changes of a plan one by one, and what is decided about each."""
