"""Products that sum: matmul, tensordot, vecdot."""

import operator

import numpy as np

from ._errors import TulleError
from ._operands import common_dtype, given_back, operands_of, result_element
from ._program import einsum
from ._types import element_of


def matmul(x1, x2, /):
    """The matrix product, as ``x1 @ x2``.

    Parameters
    ----------
    x1, x2 : tensors or arrays, shapes (…, m, k) and (…, k, n), or (k,); leading dimensions broadcast

    Returns
    -------
    Tensor, shape (…, m, n): sparse, in the format of x1, where both are sparse; else dense, and a NumPy array
    beside one.
    """
    a, b = operands = operands_of((x1, x2), "matmul")
    if not a.shape or not b.shape:
        raise TulleError("matmul: an operand has no dimensions; multiply by numbers with *")
    _same(a.shape[-1], b.shape[max(0, len(b.shape) - 2)], "matmul", a, b)
    batch = _batch(a.shape[:-2], b.shape[:-2], a, b)
    rows, columns = ["i"] * (len(a.shape) > 1), ["j"] * (len(b.shape) > 1)
    left = _batch_subscripts(a.shape[:-2], batch) + rows + ["k"]
    right = _batch_subscripts(b.shape[:-2], batch) + ["k"] + columns
    out = [f"b{d}" for d in range(len(batch))] + rows + columns
    shape = [*batch, *(a.shape[-2:-1] if rows else ()), *(b.shape[-1:] if columns else ())]
    return _summed("{0} * {1}", operands, left, right, out, shape)


def vecdot(x1, x2, /, *, axis: int = -1):
    """The sums of conj(x1) * x2 along an axis, over which both have the same size; the others broadcast."""
    a, b = operands = operands_of((x1, x2), "vecdot")
    axis = operator.index(axis)
    if not a.shape or not b.shape or not -min(len(a.shape), len(b.shape)) <= axis < min(len(a.shape), len(b.shape)):
        raise TulleError(f"vecdot: axis {axis} of shapes {a.shape} and {b.shape}")
    if axis >= 0 and len(a.shape) != len(b.shape):
        raise TulleError("vecdot: count the axis from behind, -1, where numbers of dimensions differ")
    _same(a.shape[axis], b.shape[axis], "vecdot", a, b)
    left, right = list(a.shape), list(b.shape)
    del left[axis], right[axis]
    batch = _batch(tuple(left), tuple(right), a, b)
    subscripts = []
    for operand, rest in ((a, left), (b, right)):
        names = _batch_subscripts(tuple(rest), batch)
        names.insert(axis % len(operand.shape), "k")
        subscripts.append(names)
    text = "conj({0}) * {1}" if np.dtype(common_dtype(operands)).kind == "c" else "{0} * {1}"
    return _summed(text, operands, *subscripts, [f"b{d}" for d in range(len(batch))], batch)


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over pairs of axes.

    Parameters
    ----------
    axes : int, or pair of sequences of ints
        How many of the last of x1 and the first of x2; or which of x1, and which of x2.
    """
    a, b = operands = operands_of((x1, x2), "tensordot")
    first, second = _pairs(axes, len(a.shape), len(b.shape))
    left = [f"i{d}" for d in range(len(a.shape))]
    right = [f"j{d}" for d in range(len(b.shape))]
    for k, (p, q) in enumerate(zip(first, second)):
        _same(a.shape[p], b.shape[q], "tensordot", a, b)
        left[p] = right[q] = f"k{k}"
    out = [name for name in left + right if name[0] != "k"]
    sizes = dict(zip(left + right, a.shape + b.shape))
    return _summed("{0} * {1}", operands, left, right, out, [sizes[name] for name in out])


def _pairs(axes, ndim1: int, ndim2: int):
    if not isinstance(axes, (tuple, list)):
        count = operator.index(axes)
        if not 0 <= count <= min(ndim1, ndim2):
            raise TulleError(f"tensordot: {count} axes of tensors with {ndim1} and {ndim2} dimensions")
        return range(ndim1 - count, ndim1), range(count)
    first, second = ([of] if isinstance(of, int) else list(of) for of in axes)
    for of, ndim in ((first, ndim1), (second, ndim2)):
        if any(not -ndim <= axis < ndim for axis in of) or len({axis % ndim for axis in of}) != len(of):
            raise TulleError(f"tensordot: axes {of} of a tensor with {ndim} dimensions")
    if len(first) != len(second):
        raise TulleError(f"tensordot: {len(first)} axes are paired with {len(second)}")
    return [axis % ndim1 for axis in first], [axis % ndim2 for axis in second]


def _same(size1: int, size2: int, name: str, a, b) -> None:
    if size1 != size2:
        raise TulleError(f"{name}: the sizes {size1} and {size2} of what is summed differ, in shapes {a.shape} and "
                         f"{b.shape}")


def _batch(left, right, a, b):
    try:
        return np.broadcast_shapes(left, right)
    except ValueError:
        raise TulleError(f"the leading dimensions of shapes {a.shape} and {b.shape} do not broadcast") from None


def _batch_subscripts(of, batch) -> list[str]:
    first = len(batch) - len(of)
    return ["0" if size == 1 and batch[first + d] != 1 else f"b{first + d}" for d, size in enumerate(of)]


def _summed(text: str, operands, left, right, out, shape):
    """A product of two operands with given subscripts, summed over what is not among those of the result."""
    dtype = common_dtype(operands)
    element = result_element(dtype, operands)
    sparse = bool(shape) and all(operand.sparse for operand in operands)
    one = operands[0].value is operands[1].value
    accesses, tensors = [], {}
    for k, (operand, subscripts) in enumerate(zip(operands, (left, right))):
        name = "x0" if one else f"x{k}"
        tensors[name] = operand.value
        access = name + (f"({','.join(subscripts)})" if subscripts else "")
        to = element_of(dtype)
        same = operand.element == to or operand.element == "bf16" and to == "f32"
        accesses.append(access if same else f"{to}({access})")
    subscripts = f"({','.join(out)})" if out else ""
    format = _storage(operands, shape) if sparse else "dense"
    result = einsum(f"y{subscripts} = {text.format(*accesses)}", tensors=tensors, types={"y": (format, element)})
    return given_back(result, operands, element)


def _storage(operands, shape) -> str:
    """The format of a sparse product: the first operand's with as many dimensions."""
    from ._operands import default_format, result_encoding

    for operand in operands:
        if len(operand.shape) == len(shape):
            return result_encoding(operand.value.encoding)
    return default_format(len(shape))
