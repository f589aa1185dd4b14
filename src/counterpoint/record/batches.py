"""The entries of a file of any size, batch by batch, as the index needs them."""

from collections.abc import Callable, Iterator, Sequence

from counterpoint.core.canonical import digest
from counterpoint.record.ending import batch_of
from counterpoint.record.fs import Files
from counterpoint.record.index import Span
from counterpoint.record.listing import Listed, list_entries
from counterpoint.record.windows import windows

__all__ = ["batches"]


def batches(fs: Files, fd: int, *, check: Callable[[Sequence[Listed]], None]) -> Iterator[list[Span]]:
    """Yield where the entries of each batch lie; what stands for itself is a batch of one.

    `check` is called with the entries of each piece of the file.
    """
    batch: list[Span] = []
    for offset, content in windows(fs, fd):
        rows = list_entries(content)
        check(rows)
        for row in rows:
            block = content[row.at : row.end]
            if batch and (not row.is_ours or batch_of(block)[0] == 1):
                yield batch
                batch = []
            at = offset + row.at
            batch.append(Span(n=row.n, thread=row.thread, offset=at, length=len(block), digest=digest(block)))
    if batch:
        yield batch
