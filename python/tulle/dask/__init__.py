"""Tulle on several processes and machines, by Dask: matrices in partitions of rows, and programs on them as graphs of
compiled kernels.

>>> import tulle.dask as td
>>> A = td.from_tensor(S, 8)
>>> y = td.einsum("y(i) = A(i,j) * x(j)", A=A, x=x)
>>> print(y.explain())
>>> y.compute()
"""

try:
    from dask.sizeof import sizeof
except ImportError:
    raise ImportError("tulle.dask needs the package dask: pip install 'dask[distributed]'") from None

from .._tensor import Tensor
from ._plan import Plan
from ._program import einsum, run
from ._rows import Rows, Total, from_array, from_files, from_tensor

__all__ = ["Plan", "Rows", "Total", "einsum", "from_array", "from_files", "from_tensor", "run"]


@sizeof.register(Tensor)
def _bytes_of(tensor: Tensor) -> int:
    """What a worker counts, so that it spills tensors to disk in time."""
    return tensor.nbytes
