"""Shapes: transposes, reshapes, tensors beside one another; views where the storage allows it."""

import operator

import numpy as np

from ._elementwise import indices
from ._errors import TulleError
from ._operands import (
    array_of, common_dtype, default_format, dense_tensor, is_dense, operands_of, result_element,
    result_encoding,
)
from ._program import einsum
from ._tensor import Tensor, as_operand, asarray


def _tensor(x, name: str) -> Tensor:
    return x if isinstance(x, Tensor) else as_operand(x, name)


def _axis(axis, ndim: int, name: str) -> int:
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise TulleError(f"{name}: axis {number} of a tensor with {ndim} dimensions")
    return number % ndim


def _axes(axis, ndim: int, name: str) -> list[int]:
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    numbers = [_axis(one, ndim, name) for one in given]
    if len(set(numbers)) != len(numbers):
        raise TulleError(f"{name}: an axis of {tuple(given)} is given twice")
    return numbers


def permute_dims(x, /, axes) -> Tensor:
    """The tensor with its dimensions in another order, a view."""
    x = _tensor(x, "permute_dims")
    numbers = _axes(tuple(axes), x.ndim, "permute_dims")
    if len(numbers) != x.ndim:
        raise TulleError(f"permute_dims: {len(numbers)} axes for {x.ndim} dimensions")
    return x.transpose(numbers) if x.ndim else x


def matrix_transpose(x, /) -> Tensor:
    """The tensor with its last two dimensions exchanged, a view."""
    x = _tensor(x, "matrix_transpose")
    if x.ndim < 2:
        raise TulleError(f"matrix_transpose: expected two dimensions or more, got {x.ndim}")
    return x.transpose([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def moveaxis(x, source, destination, /) -> Tensor:
    """The tensor with some of its dimensions at other places, a view."""
    x = _tensor(x, "moveaxis")
    source, destination = _axes(source, x.ndim, "moveaxis"), _axes(destination, x.ndim, "moveaxis")
    if len(source) != len(destination):
        raise TulleError(f"moveaxis: {len(source)} axes to {len(destination)} places")
    order = [d for d in range(x.ndim) if d not in source]
    for to, of in sorted(zip(destination, source)):
        order.insert(to, of)
    return permute_dims(x, order)


def reshape(x, /, shape, *, copy: bool | None = None) -> Tensor:
    """The same elements in row-major order in other dimensions, of which one may be -1."""
    return _tensor(x, "reshape").reshape((shape,) if isinstance(shape, int) else tuple(shape))


def expand_dims(x, /, axis) -> Tensor:
    """The tensor with dimensions of size 1 at the given places of the result."""
    x = _tensor(x, "expand_dims")
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    places = _axes(axis, x.ndim + count, "expand_dims")
    sizes = iter(x.shape)
    return x.reshape(tuple(1 if d in places else next(sizes) for d in range(x.ndim + count)))


def squeeze(x, /, axis) -> Tensor:
    """The tensor without some dimensions of size 1."""
    x = _tensor(x, "squeeze")
    dropped = _axes(axis, x.ndim, "squeeze")
    for d in dropped:
        if x.shape[d] != 1:
            raise TulleError(f"squeeze: dimension {d} has size {x.shape[d]}, not 1")
    return x.reshape(tuple(size for d, size in enumerate(x.shape) if d not in dropped))


def broadcast_to(x, /, shape) -> Tensor:
    """The tensor repeated along dimensions of size 1, and along new ones before its own: a copy."""
    x = _tensor(x, "broadcast_to")
    shape = tuple(map(operator.index, shape))
    first = len(shape) - x.ndim
    if first < 0 or any(size not in (1, shape[first + d]) for d, size in enumerate(x.shape)):
        raise TulleError(f"broadcast_to: shape {x.shape} does not become {shape}")
    if x.shape == shape:
        return x
    if is_dense(x):
        return dense_tensor(np.broadcast_to(array_of(x), shape), x._element)
    (operand,) = operands_of((x,), "broadcast_to")
    access = operand.access(shape)
    repeated = [d for d in range(len(shape)) if d < first or x.shape[d - first] != shape[d]]
    factors = "".join(f" * n{d}(i{d})" for d in repeated)
    tensors = {"x": x, **{f"n{d}": np.ones(shape[d], dtype=bool) for d in repeated}}
    return einsum(f"y{indices(len(shape))} = x{access}{factors}", tensors=tensors,
                  types={"y": (default_format(len(shape)), x._element)}, wrap=True)


def broadcast_arrays(*arrays) -> list[Tensor]:
    """The tensors, each of the shape to which all broadcast."""
    from ._operands import broadcast

    operands = operands_of(arrays, "broadcast_arrays")
    shape = broadcast(operands, "broadcast_arrays")
    return [broadcast_to(x, shape) for x in arrays]


def concat(arrays, /, *, axis: int | None = 0) -> Tensor:
    """Tensors one behind the other along an axis; of dense ones the result is dense, else it is sparse."""
    tensors = _promoted(arrays, "concat")
    if axis is None:
        tensors, axis = [x.reshape((x.size,)) for x in tensors], 0
    axis = _axis(axis, tensors[0].ndim, "concat")
    shape = tensors[0].shape
    for x in tensors[1:]:
        if x.ndim != len(shape) or any(a != b for d, (a, b) in enumerate(zip(x.shape, shape)) if d != axis):
            raise TulleError(f"concat: shapes {shape} and {x.shape} differ in another axis than {axis}")
    if all(map(is_dense, tensors)):
        return dense_tensor(np.concatenate([array_of(x) for x in tensors], axis=axis), tensors[0]._element)
    if len(tensors) == 1:
        return tensors[0]
    (first, *_) = [x for x in tensors if not is_dense(x)]
    tensors = [x.to(result_encoding(x.encoding)) for x in tensors]
    names = [f"x{k}" for k in range(len(tensors))]
    return einsum(f"y{indices(len(shape))} = concat({', '.join(names)}; {axis})", tensors=dict(zip(names, tensors)),
                  types={"y": (result_encoding(first.encoding), first._element)})


def _promoted(arrays, name: str) -> list[Tensor]:
    if not len(arrays):
        raise TulleError(f"{name}: of no tensors")
    operands = operands_of(tuple(arrays), name)
    element = result_element(np.dtype(common_dtype(operands)), operands)
    return [asarray(x).astype(element) for x in arrays]


def stack(arrays, /, *, axis: int = 0) -> Tensor:
    """Tensors of one shape, one behind the other along a new axis."""
    tensors = [_tensor(x, "stack") for x in arrays]
    for x in tensors[1:]:
        if x.shape != tensors[0].shape:
            raise TulleError(f"stack: shapes {tensors[0].shape} and {x.shape} differ")
    return concat([expand_dims(x, axis=axis) for x in tensors], axis=axis)


def unstack(x, /, *, axis: int = 0) -> tuple:
    """The slices of a tensor along an axis."""
    x = _tensor(x, "unstack")
    axis = _axis(axis, x.ndim, "unstack")
    before = (slice(None),) * axis
    return tuple(squeeze(x[(*before, slice(k, k + 1))], axis) for k in range(x.shape[axis]))


def flip(x, /, *, axis=None) -> Tensor:
    """The tensor with its elements in reverse order along axes, all by default."""
    x = _tensor(x, "flip")
    flipped = range(x.ndim) if axis is None else _axes(axis, x.ndim, "flip")
    return x[tuple(slice(None, None, -1) if d in flipped else slice(None) for d in range(x.ndim))] if x.ndim else x


def roll(x, /, shift, *, axis=None) -> Tensor:
    """The tensor with its elements moved along axes, those that leave at the end coming in at the start."""
    x = _tensor(x, "roll")
    if axis is None:
        return roll(x.reshape((x.size,)), shift, axis=0).reshape(x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    if len(axes) != len(shifts):
        raise TulleError(f"roll: {len(shifts)} shifts along {len(axes)} axes")
    for one, by in zip(axes, shifts):
        d = _axis(one, x.ndim, "roll")
        by = operator.index(by) % x.shape[d] if x.shape[d] else 0
        if by:
            before = (slice(None),) * d
            x = concat([x[(*before, slice(x.shape[d] - by, None))], x[(*before, slice(0, x.shape[d] - by))]], axis=d)
    return x


def _gathered(x, axis: int, places) -> Tensor:
    if is_dense(x):
        return dense_tensor(np.take(array_of(x), places, axis=axis), x._element)
    if not len(places):
        return x[(slice(None),) * axis + (slice(0, 0),)]
    return x[(slice(None),) * axis + (places,)]


def repeat(x, repeats, /, *, axis: int | None = None) -> Tensor:
    """Each element of an axis several times: one number, or one for each."""
    x = _tensor(x, "repeat")
    if axis is None:
        x, axis = x.reshape((x.size,)), 0
    axis = _axis(axis, x.ndim, "repeat")
    times = np.asarray(array_of(repeats))
    if times.dtype.kind not in "iu" or times.size not in (1, x.shape[axis]) or np.any(times < 0):
        raise TulleError(f"repeat: expected one number, or {x.shape[axis]}, not negative")
    return _gathered(x, axis, np.repeat(np.arange(x.shape[axis]), times))


def tile(x, repetitions, /) -> Tensor:
    """The tensor several times along each axis."""
    x = _tensor(x, "tile")
    times = (repetitions,) if isinstance(repetitions, int) else tuple(map(operator.index, repetitions))
    times = (1,) * (x.ndim - len(times)) + times
    if len(times) > x.ndim:
        x = x.reshape((1,) * (len(times) - x.ndim) + x.shape)
    for d, count in enumerate(times):
        if count != 1:
            x = _gathered(x, d, np.tile(np.arange(x.shape[d]), count))
    return x


def take(x, indices, /, *, axis: int | None = None) -> Tensor:
    """The slices of an axis at a vector of places, which may be counted from behind."""
    x = _tensor(x, "take")
    if axis is None:
        if x.ndim != 1:
            raise TulleError("take: name the axis of a tensor that has not one dimension")
        axis = 0
    axis = _axis(axis, x.ndim, "take")
    places = np.asarray(array_of(indices))
    if places.ndim != 1 or places.size and places.dtype.kind not in "iu":
        raise TulleError("take: the places are a vector of integers")
    size = x.shape[axis]
    if places.size and (places.min() < -size or places.max() >= size):
        raise IndexError(f"take: a place is outside of axis {axis} of size {size}")
    return _gathered(x, axis, np.where(places < 0, places + size, places).astype(np.int64))


def diff(x, /, *, axis: int = -1, n: int = 1, prepend=None, append=None) -> Tensor:
    """Differences of neighbours along an axis, n times."""
    x = _tensor(x, "diff")
    axis = _axis(axis, x.ndim, "diff")
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    before = (slice(None),) * axis
    for _ in range(operator.index(n)):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(0, max(0, x.shape[axis] - 1)))]
        x = later != earlier if x.dtype.kind == "b" else later - earlier
    return x
