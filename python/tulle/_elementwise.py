"""Functions of elements: NumPy's ufuncs on tensors, each a statement of index notation where that has it."""

import re
from typing import NamedTuple

import numpy as np

from . import _core
from ._errors import DenseResultError, TulleError
from ._operands import (
    Operand, array_of, broadcast, common_dtype, default_format, given_back, number, operands_of,
    result_element, result_encoding,
)
from ._program import einsum
from ._types import dtype_of, element_of


class Rule(NamedTuple):
    """How index notation writes a ufunc."""

    text: str
    zero: str = "all"  # the result is 0 where this is not stored: "any" operand, the "left" one; "all": f(0, 0) is 0
    kinds: str = "biufc"  # of NumPy's dtypes to which the operands are brought
    native: bool = False  # the compiler sees where the result is 0; else a mask says it


_FLOORED = "({0} % {1} != 0) & (({0} % {1} < 0) != ({1} < 0))"

RULES = {
    np.add: Rule("{0} + {1}", native=True),
    np.subtract: Rule("{0} - {1}", native=True),
    np.multiply: Rule("{0} * {1}", "any", native=True),
    np.true_divide: Rule("{0} / {1}", "left", native=True),
    np.floor_divide: Rule("select(" + _FLOORED + ", {0} / {1} - 1, {0} / {1})", "left", "i"),
    np.remainder: Rule("select(" + _FLOORED + ", {0} % {1} + {1}, {0} % {1})", "left", "i"),
    np.power: Rule("{0} ** {1}"),
    np.negative: Rule("-{0}", native=True),
    np.positive: Rule("{0}", native=True),
    np.absolute: Rule("abs({0})", kinds="ifc", native=True),
    np.equal: Rule("{0} == {1}"),
    np.not_equal: Rule("{0} != {1}", native=True),
    np.less: Rule("{0} < {1}", native=True),
    np.less_equal: Rule("{0} <= {1}"),
    np.greater: Rule("{0} > {1}", native=True),
    np.greater_equal: Rule("{0} >= {1}"),
    np.bitwise_and: Rule("{0} & {1}", "any", native=True),
    np.bitwise_or: Rule("{0} | {1}", native=True),
    np.bitwise_xor: Rule("{0} ^ {1}", native=True),
    np.invert: Rule("~{0}"),
    np.left_shift: Rule("{0} << {1}", "left", native=True),
    np.right_shift: Rule("{0} >> {1}", "left", native=True),
    np.logical_and: Rule("bool({0}) & bool({1})", "any", native=True),
    np.logical_or: Rule("bool({0}) | bool({1})", native=True),
    np.logical_xor: Rule("bool({0}) ^ bool({1})", native=True),
    np.logical_not: Rule("!bool({0})"),
    np.maximum: Rule("max({0}, {1})", kinds="bif", native=True),
    np.minimum: Rule("min({0}, {1})", kinds="bif", native=True),
    np.sqrt: Rule("sqrt({0})", native=True),
    np.square: Rule("{0} * {0}", native=True),
    np.reciprocal: Rule("1 / {0}", kinds="fc"),
    np.exp: Rule("exp({0})", kinds="f"),
    np.log: Rule("log({0})", kinds="f"),
    np.sin: Rule("sin({0})", kinds="f", native=True),
    np.cos: Rule("cos({0})", kinds="f"),
    np.tanh: Rule("tanh({0})", kinds="f", native=True),
    np.conjugate: Rule("conj({0})", kinds="c", native=True),
    np.sign: Rule("select({0} > 0, 1, select({0} < 0, -1, select({0} == 0, 0, {0})))", kinds="if"),
    np.isnan: Rule("{0} != {0}", kinds="fc"),
    np.isinf: Rule("abs({0}) == inf", kinds="f"),
    np.isfinite: Rule("abs({0}) < inf", kinds="f"),
}
_COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_SYMBOLS = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.floor_divide: "//", np.remainder: "%",
    np.power: "**", np.equal: "==", np.not_equal: "!=", np.less: "<", np.less_equal: "<=", np.greater: ">",
    np.greater_equal: ">=", np.left_shift: "<<", np.right_shift: ">>",
}


def apply(ufunc: np.ufunc, *objects):
    """NumPy's ufunc of arrays and tensors, of which at least one is a tensor or taken for one.

    A sparse result has the format of the first sparse operand of its shape. DenseResultError where the result
    would be dense though no operand but numbers is.
    """
    operands = operands_of(objects, ufunc.__name__)
    inputs, output = _resolve(ufunc, operands)
    rule = RULES.get(ufunc)
    zero = rule.zero if rule else "all"
    shape = broadcast(operands, ufunc.__name__)
    if ufunc is np.power:
        _refuse_negative_exponents(operands[1], output)
    sparse = _stays_sparse(ufunc, zero, operands, inputs)
    if rule is None or any(dtype.kind not in rule.kinds for dtype in inputs):
        return _by_values(ufunc, zero, operands, inputs, output, shape, sparse)
    text = rule.text
    if ufunc is np.power and type(objects[1]) is int and 0 < objects[1] <= 8:
        operands, inputs = operands[:1], inputs[:1]
        text = text.replace("{1}", str(objects[1]))
    native = rule.native and (zero != "all" or not any(operand.is_number for operand in operands))
    return statement(text, operands, inputs, result_element(output, operands), shape, sparse, masked=not native)


def statement(text: str, operands, inputs, element: str, shape, sparse: bool, *, masked: bool = False,
              masks=None, format: str | None = None):
    """Computes one statement on broadcast operands.

    Parameters
    ----------
    text : str
        The right side; {0}, {1}, … are the operands.
    inputs : dtypes to which the operands are converted
    masked : bool
        Compute only where an operand stores something: one of `masks`, by default of the sparse ones.
    format : str, optional
        Of a sparse result; by default the first sparse operand's of the result's shape.
    """
    names: dict = {}
    tensors: dict = {}
    accesses, converted = [], []
    for operand, dtype in zip(operands, inputs):
        value = number(operand, dtype)
        name = names.setdefault(id(operand.value), f"x{len(names)}")
        tensors[name] = value
        access = name + operand.access(shape)
        accesses.append(access)
        to = element_of(dtype, "an operand")
        same = operand.kind is not None or operand.element == to or (operand.element == "bf16" and to == "f32")
        converted.append(access if same else f"{to}({access})")
    program = f"y{indices(len(shape))} = {text.format(*converted)}"
    if sparse and masked:
        chosen = [k for k, operand in enumerate(operands) if operand.sparse] if masks is None else masks
        program += f" where {' | '.join(accesses[k] for k in chosen)}"
    if format is None:
        format = storage(operands, shape) if sparse else "dense"
    result = einsum(program, tensors=tensors, types={"y": (format, element)})
    return given_back(result, operands, element)


def indices(ndim: int, letter: str = "i") -> str:
    return f"({','.join(f'{letter}{d}' for d in range(ndim))})" if ndim else ""


def storage(operands, shape) -> str:
    """The format of a sparse result: that of the first sparse operand of its shape."""
    for operand in operands:
        if operand.sparse and operand.shape == tuple(shape):
            return result_encoding(operand.value.encoding)
    return default_format(len(shape))


def _resolve(ufunc, operands):
    """The dtypes in which NumPy computes, and the result's."""
    given = [operand.dtype for operand in operands]
    if all(operand.kind is not None for operand in operands):
        given[0] = np.asarray(operands[0].value).dtype
    *inputs, output = ufunc.resolve_dtypes((*given, None))
    for k, operand in enumerate(operands):
        try:
            number(operand, inputs[k])
        except OverflowError:
            if ufunc not in _COMPARISONS:
                raise
            # A comparison is exact whatever the number: in the type that holds it.
            wider = Operand(np.asarray(operand.value), f"{ufunc.__name__}: operand {k + 1}")
            operand.value, operand.element, operand.kind = wider.value, wider.element, None
            return _resolve(ufunc, operands)
    return inputs, output


def _stays_sparse(ufunc, zero: str, operands, inputs) -> bool:
    if not any(operand.sparse for operand in operands):
        return False
    if zero == "any" or zero == "left" and operands[0].sparse:
        return True
    if not all(operand.sparse or operand.is_number for operand in operands):
        return False
    values = [
        dtype.type(0) if operand.sparse else array_of(number(operand, dtype)).astype(dtype)[()]
        for operand, dtype in zip(operands, inputs)
    ]
    with np.errstate(all="ignore"):
        there = ufunc(*values)
    if there != 0:
        raise DenseResultError(_would_be_dense(ufunc, operands, there))
    return True


def _would_be_dense(ufunc, operands, there) -> str:
    letters = iter("ABC")
    names = [
        next(letters) if operand.sparse else str(operand.value if operand.kind else array_of(operand.value)[()])
        for operand in operands
    ]
    if ufunc in _SYMBOLS and len(names) == 2:
        shown = f"{names[0]} {_SYMBOLS[ufunc]} {names[1]}"
    else:
        shown = f"{ufunc.__name__}({', '.join(names)})"
    return (
        f"{ufunc.__name__}: the result would be dense: {shown} is {there} where nothing is stored; compute it on dense "
        "arrays, A.todense(), or only where A stores something: "
        'tl.einsum("y(i,j) = … where A", A=A, format=A.format)'
    )


def _refuse_negative_exponents(exponent: Operand, output) -> None:
    if output.kind != "i":
        return
    values = exponent.value
    if exponent.sparse:
        values = values.to(result_encoding(values.encoding)).values
    elif exponent.kind is None:
        values = array_of(values)
    if np.size(values) and np.min(values) < 0:
        raise TulleError("power: integers to negative powers are not integers; convert to a floating-point type first")


#===--- What index notation does not have: NumPy on stored values ---===#


def _by_values(ufunc, zero, operands, inputs, output, shape, sparse: bool):
    element = result_element(output, operands)
    if not sparse:
        arrays = [_elements(operand, dtype) for operand, dtype in zip(operands, inputs)]
        with np.errstate(all="ignore"):
            result = np.asarray(ufunc(*arrays))
        return given_back(np.asarray(result.astype(dtype_of(element), copy=False), order="C"), operands, element)
    stored = [operand for operand in operands if operand.sparse]
    if len(stored) == 1 and zero == "all" and stored[0].shape == tuple(shape):
        pattern = stored[0].value
        pattern = pattern.to(result_encoding(pattern.encoding))
        values = [pattern.values if operand.sparse else number(operand, dtype)
                  for operand, dtype in zip(operands, inputs)]
        return with_values(pattern, _computed(ufunc, values, inputs, element), element)
    format = storage(operands, shape)
    pattern, values = aligned(operands, inputs, shape, [0] if zero == "left" else None)
    return with_values(pattern, _computed(ufunc, values, inputs, element), element).to(format)


def _elements(operand, dtype):
    value = number(operand, dtype)
    array = value.todense() if operand.sparse else array_of(value)
    if operand.element == "bf16":
        array = array_of(value.astype("f32") if not operand.sparse else dense_f32(value))
    return array.astype(dtype, copy=False)


def dense_f32(tensor):
    return tensor.astype("f32").todense()


def _computed(ufunc, values, inputs, element: str):
    brought = [np.asarray(array_of(of)).astype(dtype, copy=False) for of, dtype in zip(values, inputs)]
    with np.errstate(all="ignore"):
        return ufunc(*brought).astype(dtype_of(element), copy=False)


def aligned(operands, inputs, shape, masks=None):
    """The pattern of where one of the sparse operands (those of `masks`) stores something, and all operands'
    values there, in the order of its entries."""
    names = indices(len(shape))
    chosen = [operands[k] for k in masks] if masks else [operand for operand in operands if operand.sparse]
    tensors = {f"x{k}": operand.value for k, operand in enumerate(chosen)}
    mask = " | ".join(f"x{k}{operand.access(shape)}" for k, operand in enumerate(chosen))
    # An index that none of them has runs over the entries of a dense vector.
    free = [d for d in range(len(shape)) if f"i{d}" not in re.findall(r"i\d+", mask)]
    sizes = "".join(f" & s{d}(i{d})" for d in free)
    tensors |= {f"s{d}": np.ones(shape[d], dtype=bool) for d in free}
    pattern = einsum(f"m{names} = set(({mask}){sizes})", tensors=tensors,
                     types={"m": (default_format(len(shape)), "bool")})
    values = []
    for operand, dtype in zip(operands, inputs):
        if operand.is_number:
            values.append(number(operand, dtype))
            continue
        to = element_of(dtype, "an operand")
        values.append(einsum(f"y{names} = x{operand.access(shape)}", tensors={"x": operand.value, "m": pattern},
                             types={"y": ("like m", to)}).values)
    return pattern, values


def with_values(pattern, values, element: str):
    """A tensor with the structure of another, and values of its own."""
    *structure, _ = pattern._buffers()
    names = [f"{kind}[{level}]" for kind, level in _core.fields(pattern.encoding, pattern.ndim)]
    stored = np.ascontiguousarray(values)
    if element == "bf16":
        stored = stored.view(np.int16)
    return _core.borrow(element, list(pattern.shape), pattern.encoding, [*structure, stored], names, False)


def select(condition, x, y):
    """Elements of x where the condition is true, else of y; see `tulle.where`."""
    operands = operands_of((condition, x, y), "where")
    dtype = common_dtype(operands[1:])
    shape = broadcast(operands, "where")
    nothing = [operand.sparse or operand.is_number and not np.any(array_of(number(operand, dtype)))
               for operand in operands]
    absent = nothing[2] and (operands[0].sparse or nothing[1])
    sparse = absent and any(operand.sparse for operand in operands)
    if not sparse and all(operand.sparse or operand.is_number for operand in operands) and any(
            operand.sparse for operand in operands):
        raise DenseResultError("where: the result would be dense: it is not 0 where nothing is stored; use dense arrays")
    return statement("select({0}, {1}, {2})", operands, [np.dtype(bool), dtype, dtype],
                     result_element(dtype, operands[1:]), shape, sparse, masked=True)


def part(function: str, obj):
    """The real or the imaginary part: `function` is "real" or "imag"."""
    operands = operands_of((obj,), function)
    dtype = operands[0].dtype if operands[0].kind is None else np.asarray(operands[0].value).dtype
    if dtype.kind != "c":
        from ._array_api_creation import zeros_like

        if function == "imag":
            obj = np.zeros_like(obj) if isinstance(obj, np.ndarray) else zeros_like(obj)
        return obj
    return statement(f"{function}({{0}})", operands, [dtype], f"f{4 * dtype.itemsize}", operands[0].shape, operands[0].sparse)
