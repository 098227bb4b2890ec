"""Where concrete sizes come from in a function, where they flow, and what stops them from being symbolic."""

from transforms.cpp.flow import calls, containers, expressions, lambdas, statements

__all__ = ["calls", "containers", "expressions", "lambdas", "statements"]
