"""Work that may end the process it runs in: done in forked children, item by item, and gone on with after a crash."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

Work = Callable[[int], Iterator[tuple[int, Any]]]
"""From the number of the first item: yields (number, None) before an item is worked on, (number, what it gave) after.
What it gave is JSON."""
CRASHES = 25
"""After so many items that ended their process the rest is left."""


def survive(work: Work) -> Iterator[Any]:
    """What `work` gives, in order, without the items that end their process."""
    first = 0
    for _ in range(CRASHES):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            _child(work, first, writer)
        os.close(writer)
        try:
            with os.fdopen(reader, encoding="ascii") as lines:
                for line in lines:
                    number, given = json.loads(line)
                    first = number + 1
                    if given is not None:
                        yield given
        finally:  # also where no more is wanted: the pipe is closed then, and the child ends at its next line
            _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return


def _child(work: Work, first: int, writer: int) -> None:
    """Write what `work` gives to the pipe, and end the process without what the parent does at its end."""
    try:
        sys.stdout.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for number, given in work(first):
            os.write(writer, json.dumps([number, given]).encode("ascii") + b"\n")
    except BaseException:  # the pipe's end is gone, or the work failed: the parent has what there is
        os._exit(1)
    os._exit(0)
