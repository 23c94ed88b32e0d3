"""Tensors and kernels as bytes: with protocol 5, buffers of tensors go out of band and are not copied."""

import numpy as np

from . import _core
from ._borrow import borrow


def reduce(tensor, protocol: int):
    stored = whole(tensor)
    buffers = [array if isinstance(array, int) else np.asarray(array) for array in stored._buffers()]
    return restore, (stored._element, list(stored.shape), stored.encoding, buffers)


def whole(tensor):
    """The tensor without slices and rows that were picked elsewhere: a copy of what they show."""
    from ._operands import without_slices

    return tensor if "slice" not in tensor.encoding else tensor.to(without_slices(tensor.encoding))


def restore(element: str, shape, encoding: str, buffers):
    """The tensor of these buffers, checked: bytes may come from anywhere."""
    roles = _core.fields(encoding, len(shape))
    names = [kind if kind == "values" else f"{kind}[{level}]" for kind, level in roles]
    if element == "bf16" and not isinstance(buffers[-1], int):
        buffers = [*buffers[:-1], buffers[-1].view(np.int16)]
    # What comes over a network may begin at any address.
    buffers = [buffer if isinstance(buffer, int) else np.require(buffer, requirements="A") for buffer in buffers]
    return borrow(element, shape, encoding, buffers, names, True)


_OPTIONS = ("threads", "deterministic", "schedule", "strict_fp", "vl", "scalable", "index32", "tail", "any_size", "results",
            "given", "disk_cache")


def reduce_kernel(kernel):
    """A kernel takes its machine code along: who has the same build of Tulle and the same processor need not compile
    it again."""
    options = {name: getattr(kernel._options, name) for name in _OPTIONS}
    return restore_kernel, (kernel.program, kernel._types, options, kernel._object_code())


def restore_kernel(program: str, types: dict, options: dict, object_code: bytes):
    given = _core.CompileOptions()
    for name, value in options.items():
        setattr(given, name, value)
    given.object_code = object_code
    return _core.compile(program, types, given)
