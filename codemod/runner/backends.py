"""The backend that samples are compiled with: aot_eager, which runs operators as eager does, unless a job says so."""

from __future__ import annotations

DEFAULT = "aot_eager"
_chosen = DEFAULT


def choose(name: str) -> None:
    """Compile what follows in this process with the backend `name`.

    Inductor compiles in this process alone, whose limits then hold for all of it.
    """
    global _chosen
    _chosen = name
    if name == "inductor":
        import torch._inductor.config

        torch._inductor.config.compile_threads = 1


def chosen() -> str:
    """The backend of this process."""
    return _chosen
