"""The order in which minibatches go through the rows of a large group: block by block.

A batch of rows drawn one by one from all over a mapped file costs a disk access each, once the file
is larger than memory. So a group of many rows is cut into blocks of neighbours; the blocks are
shuffled, some are taken at a time, and their rows are shuffled among themselves. A batch then
comes from a buffer of many blocks from all over the group, and every row is visited once.
"""

import torch
from torch import Tensor

from fairsmooth.training.batching import draw_rows

# Rows that are read together, and those that are shuffled together: groups of fewer rows are
# shuffled as a whole.
BLOCK, BUFFER = 2**13, 2**19


def drawn_rows(n_rows: int, count: int, *, generator: torch.Generator) -> Tensor:
    """Draw ``count`` of the rows 0 to ``n_rows - 1``, all before one for the second time.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> drawn_rows(3, 6, generator=generator).view(2, 3).sort().values
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    if n_rows <= BUFFER:
        return draw_rows(torch.arange(n_rows), count, generator=generator)
    parts, missing = [], min(count, n_rows)
    blocks = torch.randperm(-(-n_rows // BLOCK), generator=generator)
    for some in blocks.split(BUFFER // BLOCK):
        rows = (some.unsqueeze(1) * BLOCK + torch.arange(BLOCK)).flatten()
        rows = rows[rows < n_rows]
        parts.append(rows[torch.randperm(len(rows), generator=generator)][:missing])
        missing -= len(parts[-1])
        if not missing:
            break
    once = torch.cat(parts)
    return once if len(once) == count else once[torch.arange(count) % n_rows]
