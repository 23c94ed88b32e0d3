"""Tensors to look at."""

import html as escape

from . import _core


def show(tensor, *, storage: bool = False, columns: int = 72) -> None:
    """Prints a spy plot of a tensor and, with `storage`, what its format stores, level by level."""
    from ._tensor import asarray

    tensor = asarray(tensor)
    print(_core.spy(tensor, columns) + (_core.storage(tensor) if storage else ""), end="")


def html(tensor) -> str:
    """What a notebook shows: the tensor in a line, and its picture. Of more than 10 million values the line alone."""
    line = f"<code>{escape.escape(repr(tensor))}</code>"
    if not tensor.ndim or tensor.nnz > 10_000_000:
        return line
    return f"<div>{line}<br>{_core.picture(tensor, True)}</div>"
