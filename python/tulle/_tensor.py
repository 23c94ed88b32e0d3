"""Tensors: how they are made of other packages' arrays, and what can be asked of them."""

import copy
import math
import operator
import re

import numpy as np

from . import _core, _jax, _scipy, _torch
from ._borrow import borrow
from ._errors import TulleError
from ._operators import Operators
from ._types import dtype_of, element_of


class Tensor(Operators):
    """A sparse or dense tensor: a format, sizes, and buffers that are Tulle's or another package's.

    Tensors are made by `asarray`, `from_coo`, `from_buffers`, `load` and by programs. They do not change.
    """

    __slots__ = ("__weakref__", "_type_key")
    __array_priority__ = 1000.0  # binary operators of NumPy's and SciPy's arrays leave the work to ours
    __hash__ = None

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements, as NumPy's."""
        return dtype_of(self._element)

    @property
    def type_key(self) -> str:
        """Element type and encoding: what code depends on. Printing an encoding takes as long as a small kernel."""
        try:
            return self._type_key
        except AttributeError:
            self._type_key = key = super().type_key
            return key

    @property
    def size(self) -> int:
        """The number of elements, those that are not stored included."""
        size = 1
        for of in self.shape:
            size *= of
        return size

    @property
    def fill_value(self):
        """The value of what is not stored, as NumPy's number."""
        text = self._fill
        if text.startswith("("):
            return self.dtype.type(complex(*map(float, text[1:-1].split(","))))
        if self._element == "bf16":
            return float(text)
        if self._element == "bool":
            return np.bool_(text in ("true", "1"))
        return self.dtype.type(text)

    @property
    def values(self) -> np.ndarray:
        """What is stored, in storage order, padding included: a read-only array over the tensor's memory."""
        return self._buffer("values", 0)

    def positions(self, level: int) -> np.ndarray | None:
        """Where the segments of a level begin: a read-only array of unsigned integers over the tensor's memory.

        Parameters
        ----------
        level : int
            Counted from 0, outermost first.

        Returns
        -------
        array, shape (number of segments + 1,), or None where the level stores no positions.
        """
        return self._buffer("positions", _index(level, "level"))

    def coordinates(self, level: int) -> np.ndarray | None:
        """The coordinates that a level stores: a read-only array of unsigned integers over the tensor's memory,
        or None where it stores none. Of COO without ``soa`` those of all its levels, interleaved."""
        return self._buffer("coordinates", _index(level, "level"))

    def to(self, format: str) -> "Tensor":
        """The same tensor in another format: a name ("CSR", "BCSR(4,4)") or an encoding.

        Buffers that both formats store alike are shared where they are Tulle's own.
        """
        return self._to(format)

    def copy(self) -> "Tensor":
        """The tensor in memory of its own: arrays that it was made of may change then. Of a view, what it shows.

        Examples
        --------
        >>> A = tl.asarray(np.eye(2))
        >>> A.copy().values.ctypes.data == A.values.ctypes.data
        False
        """
        return copy.deepcopy(self)

    def astype(self, dtype, *, copy: bool = True) -> "Tensor":
        """The tensor with its elements converted to another type, in the same format."""
        from ._operands import dense_tensor, result_encoding
        from ._program import einsum

        element = element_of(dtype)
        if element == self._element:
            return self
        names = _index_names(self.ndim)
        made = einsum(f"y{names} = A{names}", A=self, types={"y": (result_encoding(self.encoding), element)})
        return made if isinstance(made, Tensor) else dense_tensor(np.asarray(made), element)

    def todense(self) -> np.ndarray:
        """A NumPy array of all elements, in memory of its own."""
        return np.array(self.to(_all_stored(self.ndim, self.encoding))._elements())

    toarray = todense

    def to_scipy(self):
        """The tensor as SciPy's array of the same storage (csr, csc, bsr, coo, dia); others as coo.

        CSR, CSC, BCSR and COO-soa share their memory with the tensor: SciPy's array is not to be changed.
        """
        return _scipy.to_scipy(self)

    def to_torch(self):
        """The tensor as PyTorch's of the same storage (strided, sparse_csr, sparse_csc, sparse_bsr); others as
        sparse_coo.

        Dense tensors, CSR, CSC and BCSR share their memory with the tensor: PyTorch's is not to be changed.
        """
        return _torch.to_torch(self)

    def transpose(self, axes=None) -> "Tensor":
        """The tensor with its dimensions in another order, by default reversed; always a view."""
        order = [] if axes is None else [_axis(axis, self.ndim) for axis in axes]
        return self._transpose(order)

    @property
    def T(self) -> "Tensor":
        """The transpose, a view."""
        return self._transpose([])

    def reshape(self, *shape) -> "Tensor":
        """The same elements in row-major order in other dimensions, one of which may be -1; a view where levels
        allow it."""
        sizes = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if sizes.count(-1) == 1:
            rest = 1
            for size in sizes:
                rest *= size if size != -1 else 1
            sizes[sizes.index(-1)] = self.size // rest if rest else 0
        sizes = [_index(size, "shape") for size in sizes]
        from ._operands import array_of, default_format, dense_tensor, is_dense

        if is_dense(self) and math.prod(sizes) == self.size:
            return dense_tensor(array_of(self).reshape(sizes), self._element)
        if not self.size and math.prod(sizes) == 0:
            from ._array_api_creation import zeros

            return zeros(sizes, dtype=self._element, format=default_format(len(sizes)))
        if not sizes and self.size == 1:
            return dense_tensor(self.todense().reshape(()), self._element)
        try:
            return self._reshape(sizes)
        except TulleError:
            if math.prod(sizes) != self.size:
                raise
        # Of levels that are not digits of the dimensions (JDS, SELL, DIA, …), the entries one by one.
        return self.to("COO")._reshape(sizes)

    def decompose(self, parts: str) -> list["Tensor"]:
        """Parts that together store this tensor's entries, each in its own format: ``"hyb(1, 4)"`` or
        ``"[DIA @ j - i in {-1, 0, 1}, CSR @ rest]"``."""
        return self._decompose(parts)

    def explain(self) -> str:
        """The storage as text, level by level."""
        return self.print()

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a tensor without dimensions")
        return self.shape[0]

    def __getitem__(self, key):
        from ._indexing import get_item

        return get_item(self, key)

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.shape)) or "scalar"
        # What a slice shows of its buffers would have to be counted.
        stored = "a view" if "#tulle<slice" in self.encoding else f"{self.nnz} stored"
        return f"<tulle.Tensor {sizes}, {self.dtype}, {self.format}, {stored}, {self.nbytes} bytes>"

    def _repr_html_(self) -> str:
        from ._plot import html

        return html(self)

    def __reduce_ex__(self, protocol: int):
        from ._pickle import reduce

        return reduce(self, protocol)


_core.register_tensor(Tensor)


def _index(value, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TulleError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if not 0 <= number < 1 << 63:
        raise TulleError(f"{name}: {number} is not between 0 and 2^63")
    return number


def _axis(axis, ndim: int) -> int:
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise TulleError(f"axis {number} of a tensor with {ndim} dimensions")
    return number % ndim


def _index_names(count: int) -> str:
    """The subscripts of an access: "" or "(i0,i1,…)"."""
    return f"({','.join(f'i{d}' for d in range(count))})" if count else ""


def _is_scipy(obj) -> bool:
    """Whether this is one of SciPy's sparse arrays, without importing SciPy for it."""
    return type(obj).__module__.startswith("scipy.sparse")


def asarray(obj, /, *, dtype=None, device=None, format: str | None = None, copy: bool | None = None,
            check: bool = True) -> Tensor:
    """A tensor of another package's array, over the same memory where that is stored as Tulle stores it.

    Parameters
    ----------
    obj : Tensor, scipy.sparse array or matrix (csr, csc, bsr, coo, dia), torch.Tensor (strided, sparse_csr,
        sparse_csc, sparse_bsr, sparse_bsc, sparse_coo, with batches and dense dimensions), sparse array of JAX
        (BCOO and BCSR, with batches and dense dimensions, COO, CSR, CSC), array that NumPy or DLPack knows,
        number or nested lists
    dtype : optional
        Convert the elements.
    device : optional
        "cpu".
    format : str, optional
        Convert to this format.
    copy : bool, optional
        True: always copy. False: raise where a copy would be made. By default: copy where needed.
    check : bool
        False trusts that coordinates are sorted, unique and within the sizes: of arrays that are not so, code
        reads memory which is not theirs.

    Returns
    -------
    Tensor; it keeps the memory that it borrows, which must not change while the tensor is in use.

    Warns
    -----
    CopyWarning
        Where coordinates are unsorted or stand twice: they are sorted and summed in a copy. JAX's that lie beyond
        the sizes are none of the array, and are left out of it.

    Raises
    ------
    TulleError
        For invalid arrays, element types that Tulle does not have, and where `copy` is False but a copy is
        needed.
    """
    if device not in (None, "cpu"):
        raise TulleError(f"device {device!r}: tensors are in the memory of the CPU")
    if dtype is not None and not hasattr(obj, "shape") and not hasattr(obj, "__dlpack__"):
        obj = _listed(obj, dtype)
    tensor = _borrowed(obj, copy, check)
    if dtype is not None and element_of(dtype) != tensor._element:
        _refuse_copy(copy, "the elements are converted")
        tensor = tensor.astype(dtype)
    if format is not None:
        converted = tensor.to(format)
        if converted.encoding != tensor.encoding:
            _refuse_copy(copy, f"the array is converted from {tensor.format} to {format}")
        tensor = converted
    return tensor


def _listed(obj, dtype) -> np.ndarray:
    """Numbers and lists as an array of a type."""
    if element_of(dtype) == "bf16" or hasattr(obj, "__binsparse__"):
        return obj
    try:
        return np.asarray(obj, dtype=dtype_of(element_of(dtype)))
    except (TypeError, ValueError) as error:
        raise TulleError(f"asarray: {error}") from None


def _refuse_copy(copy, why: str) -> None:
    if copy is False:
        raise TulleError(f"asarray: {why}, which needs a copy, but copy=False was given")


def _borrowed(obj, copy, check: bool, name: str = "asarray") -> Tensor:
    if isinstance(obj, Tensor):
        return obj
    if _is_scipy(obj):
        return _scipy.from_scipy(obj, copy, check)
    if _torch.is_torch(obj):
        return _torch.from_torch(obj, copy, check)
    if _jax.is_jax(obj):
        return _jax.from_jax(obj, copy, check)
    if hasattr(obj, "__binsparse__"):
        from ._binsparse import from_binsparse

        return from_binsparse(obj, check)
    return _dense(obj, copy, name)


def _dense(obj, copy, name: str = "asarray") -> Tensor:
    if not isinstance(obj, np.ndarray) and hasattr(obj, "__dlpack__"):
        try:
            array = np.from_dlpack(obj)
        except (TypeError, BufferError, RuntimeError) as error:
            if str(getattr(obj, "dtype", None)) != "bfloat16" or not hasattr(obj, "__array__"):
                raise TulleError(f"{name}: {error}") from None
            array = np.asarray(obj)  # NumPy reads no bfloat16 by DLPack; the package that lends them does otherwise
    else:
        if isinstance(obj, np.ma.MaskedArray):
            raise TulleError(f"{name}: a masked array; say what stands where it is masked: x.filled(0)")
        array = np.asarray(obj)
        if not isinstance(obj, np.ndarray) and not hasattr(obj, "__array_interface__"):
            copy = copy and None  # lists and numbers have no memory to share
    if array.dtype == object:
        raise TulleError(f"{name}: an array of Python objects; give its elements a type first")
    element = element_of(array.dtype, name)
    if array.ndim == 2 and not array.flags.c_contiguous and array.flags.f_contiguous and not copy:
        dense = _core.dense(_bits(array.T), name)
        return (_of_bits(dense, element)).transpose()
    if copy or not array.flags.c_contiguous:
        if not copy:
            _refuse_copy(copy, "the array is not contiguous")
        array = np.array(array, order="C")
    return _of_bits(_core.dense(_bits(array), name), element)


def _bits(array):
    """What the buffer protocol can lend: bfloat16 numbers as their bits."""
    return array.view(np.int16) if element_of(array.dtype) == "bf16" else array


def _of_bits(tensor: Tensor, element: str) -> Tensor:
    if element != "bf16":
        return tensor
    return borrow("bf16", list(tensor.shape), "dense", [tensor.values], ["values"], True)


def as_operand(obj, name: str) -> Tensor:
    """An operand of a kernel, called `name` in errors."""
    try:
        return _borrowed(obj, None, True, name)
    except TulleError as error:
        text = str(error).removeprefix("asarray: ")
        raise TulleError(text if text.startswith(f"{name}:") else f"{name}: {text}") from None


def from_buffers(shape, format: str, *, values, dtype=None, check: bool = True, **buffers) -> Tensor:
    """A tensor over arrays that hold its levels, which are borrowed.

    Parameters
    ----------
    shape : sequence of int
    format : str
        A name or an encoding.
    values : array, shape (stored entries,); an int, the number of entries, where the format has `explicitVal`
    positions, coordinates, sizes, permutation, bits : mapping of int to array
        By level, those that the format stores: C-contiguous integers, all positions of one width, all
        coordinates of one width.
    check : bool
        False trusts the arrays (see `asarray`).

    Raises
    ------
    TulleError
        Naming the array and the element, for whatever a kernel relies on and does not hold.
    """
    lengths = [_index(size, "shape") for size in shape]
    given = {(kind, level): array for kind, of in buffers.items() for level, array in (of or {}).items()}
    arrays, names = [], []
    for kind, level in _core.fields(format, len(lengths))[:-1]:
        array = given.pop((kind, level), None)
        if array is None:
            raise TulleError(f"from_buffers: {format} stores {kind} of level {level}, which are not given")
        arrays.append(np.asarray(array))
        names.append(f"{kind}[{level}]")
    if given:
        kind, level = next(iter(given))
        raise TulleError(f"from_buffers: {format} stores no {kind} of level {level}")
    if dtype is None:
        dtype = np.bool_ if isinstance(values, int) else np.asarray(values).dtype
    element = element_of(dtype, "values")
    stored = values if isinstance(values, int) else _bits(np.asarray(values)).reshape(-1)
    return borrow(element, lengths, format, [*arrays, stored], [*names, "values"], check)


def from_coo(shape, coords, values, *, format: str = "COO") -> Tensor:
    """A tensor of entries in any order; those with the same coordinates are summed.

    Parameters
    ----------
    shape : sequence of int
    coords : sequence of arrays of integers, one for each dimension, each of shape (entries,)
    values : array, shape (entries,)
    format : str

    Raises
    ------
    TulleError
        For coordinates outside of the shape, arrays of different lengths, and entries that the format cannot
        hold.
    """
    sizes = [_index(size, "shape") for size in shape]
    values = np.ascontiguousarray(values)
    if len(coords) != len(sizes):
        raise TulleError(f"coords: {len(coords)} arrays for {len(sizes)} dimensions")
    coords = [_coordinates(array, d, values.shape) for d, array in enumerate(coords)]
    if not sizes or any(array.dtype != coords[0].dtype for array in coords):
        coords = [array.astype(np.int64, copy=False) for array in coords]
    element = element_of(values.dtype, "values")
    if not sizes:
        return _core.pack(element, sizes, coords, values, format)
    # The arrays are a tensor already, of entries in any order, from which a conversion reads them.
    bounds = np.array([0, len(values)], dtype=coords[0].dtype if coords[0].itemsize >= 4 else np.int64)
    names = ["entries", *(f"coords[{d}]" for d in range(len(sizes))), "values"]
    return borrow(element, sizes, _unordered(len(sizes), format), [bounds, *coords, _bits(values)], names, True)._to(format)


_FILL = re.compile(r"\b(?:fill|implicitVal)\s*=\s*(?:#[^>]*>|\([^)]*\)|[^,}>\s]+)")


def _unordered(order: int, format: str) -> str:
    """The encoding of coordinates in any order, in an array for each dimension, with the fill of a format."""
    kinds = ["singleton(nonunique, nonordered, soa)"] * order
    kinds[0] = "compressed(nonunique, nonordered)"
    return _encoding_of(kinds, format)


def entries_of(tensor: Tensor) -> tuple[list, np.ndarray]:
    """The coordinates of what a tensor stores, an array for each dimension, in order, and the values."""
    kinds = ["compressed(nonunique)", *["singleton(nonunique, soa)"] * (tensor.ndim - 2), "singleton(soa)"]
    entries = tensor.to(_encoding_of(kinds[: tensor.ndim] if tensor.ndim > 1 else ["compressed"], tensor.encoding))
    return [np.asarray(entries.coordinates(axis)) for axis in range(tensor.ndim)], np.asarray(entries.values)


def _all_stored(order: int, format: str) -> str:
    """The encoding of all elements, with the fill of a format: it is the value of what that does not store."""
    return _encoding_of(["dense"] * order, format) if _FILL.search(format) else "dense"


def _encoding_of(kinds, format: str) -> str:
    """An encoding with a level of each kind for the dimensions in order, and the fill of a format."""
    names = [f"d{d}" for d in range(len(kinds))]
    levels = [f"{name} : {kind}" for name, kind in zip(names, kinds)]
    fill = _FILL.search(format)
    return f"{{ map = ({', '.join(names)}) -> ({', '.join(levels)}){', ' + fill[0] if fill else ''} }}"


def _coordinates(array, dimension: int, shape) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind not in "iu" and array.size:
        raise TulleError(f"coords[{dimension}]: expected integers, got {array.dtype}")
    if array.shape != shape or array.ndim != 1:
        raise TulleError(f"coords[{dimension}]: has shape {array.shape}, but the values have {shape}")
    if array.dtype == np.uint64 and array.size and array.max() >= 1 << 63:
        raise TulleError(f"coords[{dimension}]: a coordinate does not fit 63 bits")
    if array.dtype.kind != "i" or array.itemsize < 4 or not array.dtype.isnative:
        array = array.astype(np.int64)
    return np.ascontiguousarray(array)
