"""Where concrete sizes come from in a function, where they flow, and what stops them from being symbolic."""
