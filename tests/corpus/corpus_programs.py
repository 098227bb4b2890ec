"""Programs as users have trouble with, rebuilt small: `symfix fix -- python PROGRAM` cures each without a hint."""

from __future__ import annotations

from pathlib import Path

_MERGER = """import torch


class Merger(torch.nn.Module):
    def forward(self, embeddings, features, mask):
        chosen = embeddings[mask]
        if chosen.shape[0] != features.shape[0]:
            raise ValueError(f"{features.shape[0]} features for {chosen.shape[0]} places")
        return chosen + features


"""
_MERGED = """for count in (2, 3, 4):
    mask = torch.arange(6) < count
    print(merge(torch.arange(12.0).reshape(6, 2), torch.ones(count, 2), mask).sum().item())
"""

PROGRAMS = {
    # A last batch that is of one row: sizes 0 and 1 are compiled apart.
    "batch_of_one": """import torch


@torch.compile(fullgraph=True, dynamic=True, backend="aot_eager")
def scores(rows, weight):
    return torch.softmax(rows @ weight, -1).sum(0)


for batch in (4, 1, 2, 1, 8):
    print(scores(torch.ones(batch, 3), torch.ones(3, 5)).sum().item())
""",
    # A server that drops the guards of what it compiled, though a branch made one: later ones are padded wrong.
    "dropped_guard": """import torch


def padded(rows):
    count = rows.shape[0]
    if count % 2 != 0:
        count += 1
    return torch.nn.functional.pad(rows, (0, 0, 0, count - rows.shape[0]))


compiled = torch.compile(
    padded, fullgraph=True, dynamic=True, backend="aot_eager",
    options={"guard_filter_fn": lambda guards: [False for _ in guards]},
)
for size in (4, 5, 8, 11):
    print(compiled(torch.ones(size, 3)).shape[0])
""",
    # Tokens that a mask chooses: how many these are breaks the graph, and what follows is compiled apart.
    "chosen_tokens": """import torch


@torch.compile(dynamic=True, backend="aot_eager")
def scale(tokens, weights):
    chosen = tokens[weights > 0.5]
    return torch.relu(chosen @ torch.ones(3, 2))


for size in (4, 6, 9):
    print(scale(torch.ones(size, 3), torch.arange(size) / size).sum().item())
""",
    # A model that refuses features which do not fit its mask: torch cannot know how many the mask chooses.
    "raise_check": f"""{_MERGER}torch._dynamo.config.capture_dynamic_output_shape_ops = True
merge = torch.compile(Merger(), fullgraph=True, backend="aot_eager")
{_MERGED}""",
    # The same without a setting and in as many graphs as it takes: the first change alone has it break elsewhere.
    "chosen_features": f"""{_MERGER}merge = torch.compile(Merger(), dynamic=True, backend="aot_eager")
{_MERGED}""",
    # At most two of the rows that a mask chooses: whether there are more is not known while tracing.
    "first_chosen": """import torch


@torch.compile(dynamic=True, backend="aot_eager")
def first(rows):
    chosen = rows[rows[:, 0] > 1]
    if chosen.shape[0] > 2:
        chosen = chosen[:2]
    return chosen.sum(0) + chosen.shape[0]


for size in (3, 4, 6):
    print(first(torch.arange(2.0 * size).reshape(size, 2)).sum().item())
""",
    # An operator whose fake kernel takes the smaller of two sizes: which one that is becomes a guard.
    "smaller_size": """import torch


@torch.library.custom_op("programs::overlap", mutates_args=())
def overlap(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    shared = min(left.shape[0], right.shape[0])
    return left[:shared] + right[:shared]


@overlap.register_fake
def overlap_fake(left, right):
    shared = min(left.shape[0], right.shape[0])
    return left.new_empty(shared)


@torch.compile(fullgraph=True, dynamic=True, backend="aot_eager")
def total(left, right):
    return overlap(left, right) * 2


for size in (3, 5, 9, 12):
    print(total(torch.ones(size), torch.ones(7)).sum().item())
""",
    # An operator whose fake kernel makes a size a number with int: it is compiled for each size anew.
    "whole_number": """import torch


@torch.library.custom_op("programs::halves", mutates_args=())
def halves(rows: torch.Tensor) -> torch.Tensor:
    return rows[: rows.shape[0] // 2].clone()


@halves.register_fake
def halves_fake(rows):
    count = int(rows.shape[0] / 2)
    return rows.new_empty(count, *rows.shape[1:])


@torch.compile(fullgraph=True, dynamic=True, backend="aot_eager")
def summed(rows):
    return halves(rows).sum(0)


for size in (4, 6, 10):
    print(summed(torch.ones(size, 3)).sum().item())
""",
    # A model that is exported, whose conversions fix its sizes where Python runs itself.
    "exported_half": """import math

import torch


class Half(torch.nn.Module):
    def forward(self, rows):
        kept = int(rows.shape[0] * 0.5)
        return rows[:kept] / math.sqrt(rows.shape[0])


shapes = ({0: torch.export.Dim.DYNAMIC},)
program = torch.export.export(Half(), (torch.ones(16, 2),), dynamic_shapes=shapes).module()
for size in (16, 10):
    print(program(torch.ones(size, 2)).sum().item())
""",
    # A model that is exported, which makes a mask for the longest sequence of a batch.
    "longest_sequence": """import torch


class Mask(torch.nn.Module):
    def forward(self, lengths):
        longest = int(lengths.max())
        return torch.arange(longest)[None] < lengths[:, None]


shapes = ({0: torch.export.Dim.DYNAMIC},)
program = torch.export.export(Mask(), (torch.tensor([3, 5, 2]),), dynamic_shapes=shapes).module()
print(program(torch.tensor([3, 7])).sum().item())
""",
    # A branch on an unknown size that a mask, which is there, decides.
    "given_mask": """import torch


@torch.compile(fullgraph=True, dynamic=True, backend="aot_eager")
def scores(rows, mask=None):
    if rows.shape[1] > 1 and mask is None:
        rows = rows.cumsum(1)
    return rows if mask is None else rows * mask


rows = torch.ones(2, 5)
torch._dynamo.decorators.mark_unbacked(rows, 1)
print(scores(rows, torch.ones(2, 1)).sum().item())
""",
    # Two inputs of one length, which torch does not know of sizes that are marked as unknown.
    "one_length": """import torch
from torch._dynamo.decorators import mark_unbacked


@torch.compile(fullgraph=True, backend="aot_eager")
def joined(rows, *, mask):
    return rows * mask if rows.shape[0] == mask.shape[0] else rows


for size in (3, 5):
    rows, mask = torch.ones(size, 2), torch.ones(size, 1)
    mark_unbacked(rows, 0)
    mark_unbacked(mask, 0)
    print(joined(rows, mask=mask).sum().item())
""",
    # Heads that are joined, in a batch that is not known: whether it is 0 is asked to infer how wide they are together.
    "joined_heads": """import torch
from torch._dynamo.decorators import mark_unbacked


class Joined(torch.nn.Module):
    def forward(self, heads):
        batch, _, tokens, _ = heads.shape
        return heads.transpose(1, 2).reshape(batch, tokens, -1)


joined = torch.compile(Joined(), fullgraph=True, backend="aot_eager")
for batch in (2, 3):
    heads = torch.arange(batch * 40.0).reshape(batch, 2, 4, 5)
    mark_unbacked(heads, 0)
    mark_unbacked(heads, 2)
    print(joined(heads)[-1].sum(-1).tolist())
""",
    # A table of angles that is kept for the longest sequence so far: compiled again whenever one is longer.
    "kept_angles": """import torch


class Rotary(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("frequencies", 10000 ** -(torch.arange(0, width, 2) / width))
        self._length, self._cosine = 0, None

    def _update(self, length, device):
        if length > self._length or self._cosine is None or self._cosine.device != device:
            self._length = length
            places = torch.arange(length, device=device, dtype=torch.float32)
            self._cosine = torch.outer(places, self.frequencies).cos()

    def forward(self, tokens):
        self._update(tokens.shape[1], tokens.device)
        return tokens * self._cosine[: tokens.shape[1]].sum(-1)


rotated = torch.compile(Rotary(8), dynamic=True, backend="aot_eager")
for length in (5, 9, 7, 14, 3, 20):
    print(round(rotated(torch.ones(2, length)).sum().item(), 3))
""",
    # Windows of a length that torch makes a number of: compiled again for each.
    "pooled_length": """import torch
from torch import nn


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool1d(2)

    def forward(self, rows):
        return self.pool(self.pool(rows) + 1)


windows = torch.compile(Windows(), dynamic=True, backend="aot_eager")
for length in (12, 9, 15, 21):
    print(windows(torch.arange(2.0 * length).reshape(1, 2, length)).sum().item())
""",
    # Places between -1 and 1, as many as rows: compiled again for each number of them.
    "places_of_rows": """import torch
from torch import nn


class Placed(nn.Module):
    def forward(self, rows):
        height, width = rows.shape[-2:]
        ys = torch.linspace(-1, 1, height, device=rows.device)
        xs = torch.linspace(0.5 / width, 1 - 0.5 / width, width, device=rows.device)
        return rows * ys[:, None] + xs


placed = torch.compile(Placed(), dynamic=True, backend="aot_eager")
for height, width in ((12, 5), (9, 7), (15, 8), (21, 11)):
    print(round(placed(torch.ones(2, height, width)).square().sum().item(), 3))
""",
    # A table of places that is resized for all sizes but its own: another graph for that one.
    "resized_table": """import torch
from torch import nn


class Places(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.arange(32.0).reshape(1, 2, 4, 4))

    def of(self, height, width):
        if height == self.table.shape[-2] and width == self.table.shape[-1]:
            return self.table
        return nn.functional.interpolate(self.table, size=(height, width), mode="bicubic", align_corners=False)

    def forward(self, images):
        return images + self.of(images.shape[-2], images.shape[-1])


placed = torch.compile(Places(), dynamic=True, backend="aot_eager")
for height, width in ((6, 8), (4, 4), (8, 6), (4, 6)):
    print(round(placed(torch.ones(1, 2, height, width)).sum().item(), 2))
""",
    # A mask that is kept for one length, and made again for each other.
    "kept_mask": """import torch


class Causal(torch.nn.Module):
    mask = None

    def of(self, length):
        if self.mask is not None and self.mask.size(0) >= length:
            return self.mask[:length, :length]
        self.mask = torch.ones(length, length).tril()
        return self.mask

    def forward(self, tokens):
        return self.of(tokens.shape[1]) @ tokens.mT


masked = torch.compile(Causal(), dynamic=True, backend="aot_eager")
for length in (5, 9, 7, 14, 3, 20):
    print(masked(torch.ones(2, length)).sum().item())
""",
    # Attention that is causal where there is more than a token, and asks for the one token of a cache before.
    "more_than_a_token": """import torch
from torch._dynamo.decorators import mark_unbacked


@torch.compile(fullgraph=True, backend="aot_eager")
def attend(rows):
    if rows.shape[0] == 1 and not torch.compiler.is_compiling():
        return rows
    causal = rows.shape[0] > 1 and rows.dim() == 2
    return torch.nn.functional.scaled_dot_product_attention(rows, rows, rows, is_causal=causal)


for size in (3, 5):
    rows = torch.ones(size, 2)
    mark_unbacked(rows, 0)
    print(attend(rows).sum().item())
""",
    # Patches of what is filled up to a multiple: what is joined is a graph for none, for one and for more.
    "filled_patches": """import torch


@torch.compile(dynamic=True, backend="aot_eager")
def patches(rows):
    length = rows.shape[-1]
    if length % 16 != 0:
        sizes = (*rows.shape[:-1], 16 - (length % 16))
        filling = torch.full(size=sizes, fill_value=torch.nan, dtype=rows.dtype, device=rows.device)
        rows = torch.concat((filling, rows), dim=-1)
    return rows.unfold(dimension=-1, size=16, step=16)


for length in (50, 64, 70, 96, 47):
    print(patches(torch.ones(2, length)).nansum().item())
""",
    # An unknown size that is asked whether it is 0, and then whether it is 1: one declaration answers both.
    "none_and_one": """import torch
from torch._dynamo.decorators import mark_unbacked


@torch.compile(fullgraph=True, backend="aot_eager")
def scaled(rows):
    shifted = rows + 1 if rows.shape[0] > 0 and rows.dim() == 2 else rows
    return shifted * 2 if rows.shape[0] > 1 and rows.dim() == 2 else shifted


for size in (3, 5):
    rows = torch.ones(size, 2)
    mark_unbacked(rows, 0)
    print(scaled(rows).sum().item())
""",
}
"""The source of each, by name."""


def write_programs(folder: Path) -> list[Path]:
    """Write all of them below `folder`: their paths."""
    paths = []
    for name, source in PROGRAMS.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(source, encoding="ascii")
    return paths
