"""Tulle compiles sparse tensor algebra: write the formula, name a storage format for each tensor, and get machine
code for exactly that pair.

>>> import tulle as tl
>>> y = tl.einsum("y(i) = A(i,j) * x(j)", A=scipy_csr, x=x)
"""

from . import _array_api, _core
from ._array_api import *  # the names of the array API standard
from ._core import Kernel
from ._errors import CopyWarning, DenseResultError, TulleError
from ._io import generate, load, query, save, with_levels
from ._linear_operator import LinearOperator
from ._plot import show
from ._program import Results, compile, einsum, jit, run
from ._tensor import Tensor, asarray, from_buffers, from_coo

__version__ = _core.version

__all__ = [
    "CopyWarning", "DenseResultError", "Kernel", "LinearOperator", "Results", "Tensor", "TulleError", "asarray",
    "compile", "einsum", "from_buffers", "from_coo", "generate", "jit", "load", "query", "run", "save", "show",
    "with_levels",
    *_array_api.__all__,
]
