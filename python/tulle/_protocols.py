"""NumPy's protocols: its functions of tensors are Tulle's, and what would make a sparse tensor dense is a
TypeError."""

import functools
import inspect

import numpy as np

from ._operands import array_of, is_dense
from ._tensor import Tensor

def array_ufunc(ufunc, method: str, inputs, kwargs):
    """See Tensor.__array_ufunc__."""
    out = kwargs.pop("out", (None,))[0]
    if method != "__call__" or kwargs or ufunc.nout != 1:
        return _of_arrays(lambda *arrays: getattr(ufunc, method)(*arrays, **kwargs), ufunc.__name__, inputs, out)
    if ufunc is np.matmul or ufunc is getattr(np, "vecdot", None):
        from . import _products

        return _into(out, getattr(_products, ufunc.__name__)(*inputs))
    if ufunc.signature is not None:
        return _of_arrays(ufunc, ufunc.__name__, inputs, out)
    from ._elementwise import apply

    return _into(out, apply(ufunc, *inputs))


def _into(out, result):
    if out is None:
        return result
    if not is_dense(result) or isinstance(out, Tensor):
        raise TypeError("out: an array that can be written to receives dense results only")
    out[...] = array_of(result)
    return out


def _of_arrays(function, name: str, inputs, out=None):
    """NumPy's own function, of the elements of dense tensors."""
    return _into(out, function(*_arrays(inputs, name)))


def _arrays(value, name: str):
    """Dense tensors in arguments as arrays."""
    if isinstance(value, Tensor):
        if not is_dense(value):
            raise TypeError(f"numpy.{name} is not for sparse tensors; say A.todense(), or write a program: tulle.einsum")
        return array_of(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_arrays(part, name) for part in value)
    if isinstance(value, dict):
        return {key: _arrays(part, name) for key, part in value.items()}
    return value


@functools.cache
def _functions() -> dict:
    """NumPy's functions that are Tulle's, with NumPy's parameters."""
    import tulle as tl

    from ._reductions import norm

    def reduction(ours, *more):
        def call(a, axis=None, *given, keepdims=False, **named):
            named |= dict(zip(more, given))
            return ours(a, axis=axis, keepdims=keepdims, **named)

        return call

    def spread(ours):
        def call(a, axis=None, *, ddof=0, correction=0, keepdims=False):
            return ours(a, axis=axis, correction=ddof or correction, keepdims=keepdims)

        return call

    return {
        np.sum: reduction(tl.sum, "dtype"), np.prod: reduction(tl.prod, "dtype"), np.mean: reduction(tl.mean, "dtype"),
        np.max: reduction(tl.max), np.min: reduction(tl.min), np.any: reduction(tl.any), np.all: reduction(tl.all),
        np.argmax: reduction(tl.argmax), np.argmin: reduction(tl.argmin),
        np.count_nonzero: reduction(tl.count_nonzero), np.var: spread(tl.var), np.std: spread(tl.std),
        np.dot: _dot, np.tensordot: lambda a, b, axes=2: tl.tensordot(a, b, axes=axes),
        np.einsum: tl.einsum, np.where: tl.where, np.nonzero: tl.nonzero,
        np.concatenate: lambda arrays, axis=0: tl.concat(arrays, axis=axis),
        np.stack: lambda arrays, axis=0: tl.stack(arrays, axis=axis),
        np.hstack: lambda tup: tl.concat(tup, axis=min(np.ndim(tup[0]), 2) - 1),
        np.vstack: lambda tup: tl.concat([a if np.ndim(a) > 1 else tl.reshape(a, (1, -1)) for a in tup]),
        np.ravel: lambda a: tl.reshape(a, (-1,)), np.diagonal: _diagonal, np.diag: _diag,
        np.trace: lambda a: tl.sum(_diagonal(a), axis=-1), np.linalg.norm: norm,
        np.transpose: lambda a, axes=None: a.transpose(axes),
        np.reshape: lambda a, shape: tl.reshape(a, (shape,) if isinstance(shape, int) else shape),
        np.squeeze: lambda a, axis=None: tl.squeeze(
            a, axis=[d for d, size in enumerate(a.shape) if size == 1] if axis is None else axis),
        np.expand_dims: lambda a, axis: tl.expand_dims(a, axis=axis),
        np.broadcast_to: lambda array, shape: tl.broadcast_to(array, shape),
        np.flip: lambda m, axis=None: tl.flip(m, axis=axis),
        np.roll: lambda a, shift, axis=None: tl.roll(a, shift, axis=axis),
        np.tile: tl.tile, np.repeat: lambda a, repeats, axis=None: tl.repeat(a, repeats, axis=axis),
        np.take: lambda a, indices, axis=None: tl.take(a, indices, axis=axis),
        np.tril: lambda m, k=0: tl.tril(m, k=k), np.triu: lambda m, k=0: tl.triu(m, k=k),
        np.clip: lambda a, a_min=None, a_max=None, *, min=None, max=None: tl.clip(
            a, a_min if min is None else min, a_max if max is None else max),
        np.round: _round, np.around: _round,
        np.real: tl.real, np.imag: tl.imag, np.moveaxis: tl.moveaxis, np.diff: lambda a, n=1, axis=-1: tl.diff(a, n=n, axis=axis),
        np.zeros_like: tl.zeros_like, np.ones_like: tl.ones_like, np.empty_like: tl.empty_like, np.full_like: tl.full_like,
        np.result_type: tl.result_type, np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
        np.size: lambda a: a.size, np.copy: lambda a: a.copy(), np.matrix_transpose: tl.matrix_transpose,
    }


def _diagonal(a):
    """Of the first two dimensions; it is the last of the result's."""
    from . import einsum

    shortest = min(a.shape[:2])
    return einsum("ii...->...i", a[:shortest, :shortest], wrap=True)


def _diag(v):
    """The diagonal of a matrix; of a vector, the matrix that has it there."""
    import tulle as tl

    if v.ndim != 1:
        return _diagonal(v)
    if is_dense(v):
        return np.diag(array_of(v))
    entries = v.to("COO")
    at = entries.coordinates(0)
    return tl.from_coo((len(v), len(v)), (at, at), entries.values, format="CSR")


def _round(a, decimals=0):
    import tulle as tl

    if not decimals:
        return tl.round(a)
    by = 10.0 ** decimals
    return (tl.round(a * by) / by).astype(a.dtype)


def _dot(a, b):
    import tulle as tl

    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    if np.ndim(b) > 2:
        return tl.tensordot(a, b, axes=((np.ndim(a) - 1,), (np.ndim(b) - 2,)))
    return tl.matmul(a, b)


def array_function(function, types, args, kwargs):
    """See Tensor.__array_function__."""
    ours = _functions().get(function)
    if ours is not None:
        try:
            inspect.signature(ours).bind(*args, **kwargs)
        except TypeError:
            ours = None
    if ours is not None:
        return ours(*args, **kwargs)
    name = function.__name__
    return function(*_arrays(args, name), **_arrays(kwargs, name))
