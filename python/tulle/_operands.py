"""What operators and functions share: operands, the type that they are brought to, and the storage of results."""

import functools
import re

import numpy as np

from ._errors import TulleError
from ._tensor import Tensor, _of_bits, as_operand
from ._types import dtype_of, element_of

_SLICE = re.compile(r"\s*:\s*#tulle<slice\([^)]*\)>")
_EXPLICIT = re.compile(r",\s*explicitVal\s*=\s*(\([^)]*\)|[^\s,}>():]+)(\s*:\s*\w+)?")


@functools.lru_cache(maxsize=4096)
def stores_everything(encoding: str) -> bool:
    """Whether a format stores every element, so that its tensors are arrays."""
    levels = encoding.rpartition("->")[2].rpartition(")")[0].strip().lstrip("(")
    formats = [level.rpartition(":")[2].strip() for level in levels.split(",")] if levels.strip() else []
    return all(format == "dense" for format in formats)


def without_slices(encoding: str) -> str:
    """The encoding of a tensor that stores only what a slice shows."""
    return _SLICE.sub("", encoding)


@functools.lru_cache(maxsize=4096)
def result_encoding(encoding: str) -> str:
    """The encoding of results that are stored as a tensor of this one is: with values, and not a section."""
    return _EXPLICIT.sub("", without_slices(encoding))


def default_format(ndim: int) -> str:
    """The format of sparse results that no operand has one for."""
    return "dense" if ndim == 0 else "CSR" if ndim == 2 else "COO"


def is_dense(obj) -> bool:
    """Whether all elements of an array are stored."""
    return not isinstance(obj, Tensor) or stores_everything(obj.encoding)


def array_of(tensor) -> np.ndarray:
    """The elements of a tensor whose format is dense, or of an array; read-only, and not copied where they are
    stored row by row."""
    if not isinstance(tensor, Tensor):
        return np.asarray(tensor)
    return np.asarray(tensor._elements() if tensor.format == "dense" else tensor.todense())


def dense_tensor(array, element: str | None = None) -> Tensor:
    """A tensor over a NumPy array, or over a copy where that is not stored row by row."""
    if element == "bf16" and array.dtype == np.uint16:  # ml_dtypes is not installed
        return _of_bits(as_operand(np.array(array, order="C").view(np.int16), "array"), "bf16")
    array = np.asarray(array)
    return as_operand(array if array.flags.c_contiguous else np.array(array, order="C"), "array")


class Operand:
    """An operand of an operator: a Python number, a NumPy array or a tensor."""

    __slots__ = ("value", "shape", "element", "kind", "sparse")

    def __init__(self, obj, name: str):
        self.kind = None
        if isinstance(obj, (bool, int, float, complex)) and not isinstance(obj, np.generic):
            self.value, self.shape, self.element, self.sparse = obj, (), None, False
            if isinstance(obj, bool):
                self.value, self.element = np.asarray(obj), "bool"
            else:
                self.kind = type(obj)
            return
        if isinstance(obj, np.generic) or isinstance(obj, np.ndarray) and not obj.flags.c_contiguous:
            obj = np.array(obj, order="C")
        if not isinstance(obj, (np.ndarray, Tensor)):
            obj = as_operand(obj, name)
        if isinstance(obj, Tensor) and "nonordered" in obj.encoding:
            # Coordinates in any order may stand twice, for the sum of their values; a conversion sums them.
            obj = obj.to(default_format(obj.ndim))
        self.value, self.shape = obj, tuple(obj.shape)
        if isinstance(obj, Tensor):
            self.element, self.sparse = obj._element, not stores_everything(obj.encoding)
            if self.sparse and obj.fill_value != 0:
                raise TulleError(f"{name}: operators take what is not stored for 0, but it is {obj.fill_value} here; "
                                 "write a program: tl.einsum")
        else:
            self.element, self.sparse = element_of(obj.dtype, name), False

    @property
    def dtype(self):
        """What NumPy's rules of promotion take: a dtype, or the class of a Python number."""
        if self.kind is not None:
            return self.kind
        # What is computed of bfloat16 numbers is float32, until it is stored.
        return np.dtype(np.float32) if self.element == "bf16" else dtype_of(self.element)

    @property
    def is_number(self) -> bool:
        return not self.shape and not self.sparse

    @property
    def is_array(self) -> bool:
        """Whether this is a NumPy array, beside which dense results are such, too."""
        return isinstance(self.value, np.ndarray) and self.kind is None and self.value.ndim > 0

    def access(self, shape) -> str:
        """Subscripts after the name, where the result has `shape`: dimensions of size 1 are repeated."""
        ndim, first = len(self.shape), len(shape) - len(self.shape)
        subscripts = [
            "0" if self.shape[d] == 1 and shape[first + d] != 1 else f"i{first + d}" for d in range(ndim)
        ]
        return f"({','.join(subscripts)})" if subscripts else ""


def operands_of(objects, name: str) -> list[Operand]:
    return [Operand(obj, f"{name}: operand {k + 1}" if len(objects) > 1 else name) for k, obj in enumerate(objects)]


def broadcast(operands, name: str) -> tuple:
    """The shape of a result of all of them."""
    try:
        return np.broadcast_shapes(*(operand.shape for operand in operands))
    except ValueError:
        shapes = ", ".join(str(operand.shape) for operand in operands)
        raise TulleError(f"{name}: the shapes {shapes} do not broadcast to one") from None


def number(operand: Operand, dtype):
    """A Python number as an array of a type; raises OverflowError where that does not hold it."""
    return np.asarray(operand.value, dtype=dtype) if operand.kind is not None else operand.value


def result_element(output, operands) -> str:
    """Tulle's name of a result's type: bfloat16 where only such numbers, and weaker, are the operands."""
    strong = {operand.element for operand in operands if operand.kind is None}
    if output == np.float32 and "bf16" in strong and strong <= {"bf16", "bool"}:
        return "bf16"
    return element_of(output, "the result")


def common_dtype(operands) -> np.dtype:
    """NumPy's result_type of operands, Python's numbers being weak."""
    examples = {int: 0, float: 0.0, complex: 0j}
    return np.result_type(*(examples.get(operand.dtype, operand.dtype) for operand in operands))


def given_back(result, operands, element: str):
    """A dense result as what it is for the caller: NumPy's beside one of NumPy's arrays, else a tensor."""
    if isinstance(result, Tensor) or any(operand.is_array for operand in operands):
        return result
    return dense_tensor(np.asarray(result), element)
