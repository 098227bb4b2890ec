"""The maximum of windows in one dimension, whose kernel makes a plain number of the length.

The composite of `max_pool1d` checks sizes as numbers (aten/src/ATen/native/MaxPooling.cpp), so that what is compiled
serves one length. `max_pool1d_with_indices`, which it calls unless it runs on the CPU without gradients, does not.
"""

from __future__ import annotations

POOL = "max_pool1d"
POOL_ADVICE = f"{POOL} takes plain numbers in C++: {POOL}_with_indices(…)[0] gives the same and keeps the sizes"
