"""The values inside one Python function, and the places in it that ask for a concrete size."""
