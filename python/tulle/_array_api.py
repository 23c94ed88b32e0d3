"""The Python array API standard, 2024.12: its names, of which the package `tulle` is the namespace."""

from . import _array_api_elementwise, _array_api_searching, _array_api_shapes, _array_api_types, _reductions
from ._array_api_creation import (
    arange, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones, ones_like, tril, triu,
    zeros, zeros_like,
)
from ._array_api_elementwise import *
from ._array_api_searching import (
    argsort, cumulative_prod, cumulative_sum, nonzero, searchsorted, sort, take_along_axis, unique_all,
    unique_counts, unique_inverse, unique_values,
)
from ._array_api_shapes import (
    broadcast_arrays, broadcast_to, concat, diff, expand_dims, flip, matrix_transpose, moveaxis, permute_dims, repeat,
    reshape, roll, squeeze, stack, take, tile, unstack,
)
from ._array_api_types import (
    __array_namespace_info__, bool, can_cast, complex64, complex128, e, finfo, float16, float32, float64, iinfo, inf,
    int8, int16, int32, int64, isdtype, nan, newaxis, pi, result_type,
)
from ._products import matmul, tensordot, vecdot
from ._reductions import all, any, argmax, argmin, count_nonzero, max, mean, min, prod, std, sum, var

__array_api_version__ = "2024.12"

_HELPERS = {"apply", "part", "select", "np", "Callable", "Tensor", "asarray"}
__all__ = ["__array_api_version__", "__array_namespace_info__"] + [
    name for name in dir() if not name.startswith("_") and name not in _HELPERS
]
