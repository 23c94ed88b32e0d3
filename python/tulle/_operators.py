"""The operators of tensors, and what makes them arrays for other packages."""

import sys

import numpy as np

from . import _core
from ._errors import TulleError


def _apply(ufunc, *operands):
    """NumPy's ufunc of tensors; NotImplemented where an operand is no number, array or tensor."""
    if not all(map(_is_operand, operands)):
        return NotImplemented
    from ._elementwise import apply

    return apply(ufunc, *operands)


def _is_operand(obj) -> bool:
    return isinstance(obj, (_core.Tensor, np.ndarray, np.generic, bool, int, float, complex, list, tuple)) or (
        hasattr(obj, "shape") and hasattr(obj, "dtype"))


def _binary(ufunc):
    def forward(self, other):
        return _apply(ufunc, self, other)

    def reflected(self, other):
        return _apply(ufunc, other, self)

    return forward, reflected


def _reduction(name: str):
    """The function of this name as a method, with the axis first, as NumPy's and SciPy's arrays have it."""

    def method(self, axis=None, **options):
        from . import _reductions

        return getattr(_reductions, name)(self, axis=axis, **options)

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = f"`tulle.{name}` of the tensor: of all elements, or along `axis`, a dimension or several."
    return method


class Operators(_core.Tensor):
    """Arithmetic, comparisons and conversions to Python's numbers; each operator is a statement of index
    notation. Results that are not 0 where nothing is stored are refused: `DenseResultError`."""

    __slots__ = ()

    __add__, __radd__ = _binary(np.add)
    __sub__, __rsub__ = _binary(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.true_divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide)
    __mod__, __rmod__ = _binary(np.remainder)
    __pow__, __rpow__ = _binary(np.power)
    __and__, __rand__ = _binary(np.bitwise_and)
    __or__, __ror__ = _binary(np.bitwise_or)
    __xor__, __rxor__ = _binary(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary(np.left_shift)
    __rshift__, __rrshift__ = _binary(np.right_shift)
    __eq__, _ = _binary(np.equal)
    __ne__, _ = _binary(np.not_equal)
    __lt__, _ = _binary(np.less)
    __le__, _ = _binary(np.less_equal)
    __gt__, _ = _binary(np.greater)
    __ge__, _ = _binary(np.greater_equal)
    del _

    sum, prod, mean = map(_reduction, ("sum", "prod", "mean"))
    min, max, any, all = map(_reduction, ("min", "max", "any", "all"))

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __neg__(self):
        return _apply(np.negative, self)

    def __pos__(self):
        return _apply(np.positive, self)

    def __abs__(self):
        return _apply(np.absolute, self)

    def __invert__(self):
        return _apply(np.invert, self)

    def __matmul__(self, other):
        return _matmul(self, other)

    def __rmatmul__(self, other):
        return _matmul(other, self)

    def dot(self, other):
        """The product ``self @ other``; with a number or a tensor without dimensions, the multiple."""
        return np.dot(self, other)

    def diagonal(self):
        """The elements (0, 0), (1, 1), … of a matrix."""
        return np.diagonal(self)

    def matvec(self, x):
        """The product with a vector: SciPy's solvers, as `cg(A, b)`, take what has this for an operator."""
        return self @ x

    def rmatvec(self, x):
        """The product of the conjugate transpose with a vector."""
        return self.T @ x if self.dtype.kind != "c" else np.conj(self.T @ np.conj(x))

    def _number(self, type):
        if self.ndim:
            raise TypeError(f"a tensor of shape {self.shape} is not one number")
        return type(self.todense()[()])

    def __bool__(self) -> bool:
        if self.ndim:
            raise TulleError("a tensor with dimensions is neither true nor false; use tulle.any or tulle.all, or "
                             "compare its nnz")
        return self._number(bool)

    def __int__(self) -> int:
        return self._number(int)

    def __float__(self) -> float:
        return self._number(float)

    def __complex__(self) -> complex:
        return self._number(complex)

    def __index__(self) -> int:
        if self._element not in ("i8", "i16", "i32", "i64"):
            raise TypeError(f"a tensor of {self.dtype} is no index")
        return self._number(int)

    def __array__(self, dtype=None, copy=None):
        from ._operands import array_of, is_dense

        if is_dense(self):
            return np.array(array_of(self), dtype=dtype, copy=copy)
        if sys._getframe(1).f_globals.get("__name__", "").startswith("scipy.sparse"):
            # SciPy leaves an operator to the other operand where NumPy makes no array of that.
            return np.array(None, dtype=object)
        raise TypeError(
            f"a tensor in format {self.format} does not become a dense array by itself; say tensor.todense()"
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        from ._protocols import array_ufunc

        return array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        from ._protocols import array_function

        return array_function(function, types, args, kwargs)

    def __array_namespace__(self, /, *, api_version: str | None = None):
        """The module `tulle`, which has the functions of the Python array API standard."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise TulleError(f"the array API in version {api_version!r}; there is 2024.12")
        return sys.modules[__package__]

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """The elements of a dense tensor as a DLPack capsule; read-only, so of version 1 or a copy."""
        array = self._array_for("DLPack")
        if max_version is None or max_version[0] < 1:
            copy = True if copy is None else copy
        how = dict(stream=stream, max_version=max_version, dl_device=dl_device)
        return (np.array(array) if copy else array).__dlpack__(**how, copy=None if copy else copy)

    def __dlpack_device__(self):
        return self._array_for("DLPack").__dlpack_device__()

    def _array_for(self, what: str) -> np.ndarray:
        from ._operands import array_of, is_dense

        if not is_dense(self):
            raise BufferError(f"{what} has dense arrays only, and this tensor is in format {self.format}; say "
                              "tensor.todense(), or use __binsparse__")
        return array_of(self)

    def __binsparse_descriptor__(self) -> dict:
        """What `__binsparse__` returns: format, shape, and types of the arrays, as the Binsparse specification
        names them."""
        from ._binsparse import descriptor

        return descriptor(self)

    def __binsparse__(self, *, descriptor: dict | None = None, original: bool = False) -> dict:
        """The arrays of the storage by Binsparse's names, over the tensor's memory."""
        from ._binsparse import arrays

        return arrays(self, descriptor)

    @property
    def device(self) -> str:
        """Where the memory is: "cpu"."""
        return "cpu"

    def to_device(self, device, /, *, stream=None):
        """The tensor itself: there is one device."""
        if device != "cpu" or stream is not None:
            raise TulleError(f"device {device!r}: tensors are in the memory of the CPU")
        return self

    @property
    def mT(self):
        """The tensor with its last two dimensions exchanged, a view."""
        from ._array_api_shapes import matrix_transpose

        return matrix_transpose(self)


def _matmul(left, right):
    if not (_is_operand(left) and _is_operand(right)):
        return NotImplemented
    from ._products import matmul

    return matmul(left, right)
