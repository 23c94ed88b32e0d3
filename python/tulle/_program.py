"""Programs: index notation, compiled and run on arrays."""

import functools
import html
import inspect
import re

import numpy as np

from . import _core
from ._core import Kernel
from ._errors import TulleError
from ._pickle import reduce_kernel
from ._tensor import Tensor, _index, as_operand
from ._types import element_of

Kernel.__doc__ = """A compiled program.

Call it with its inputs, in the order of `inputs`; it returns the result that is written last, as a NumPy array
where it is dense. ``out=array`` receives a dense result. Sizes may differ from call to call; element types and
formats may not. Calls from several threads at once are safe. Pickled, it takes its machine code along, which runs
where the processor and the build of Tulle are the same; elsewhere it is compiled anew.
"""


class Explanation(str):
    """The text of a stage of the compiler. A notebook shows the page of all stages instead."""

    def __new__(cls, text: str, kernel: Kernel):
        made = super().__new__(cls, text)
        made._kernel = kernel
        return made

    def _repr_html_(self) -> str:
        page = html.escape(self._kernel._explain_page())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 60rem; border: 0"></iframe>'


def _explain(kernel: Kernel, stage: str = "loops") -> Explanation:
    """A stage of the compiler as text: notation, linalg, schedule, iteration, assembly, loops, vector, llvm, llvm-ir or
    asm. What it returns shows itself in a notebook as a page with all of them, in which lines of one statement are
    linked."""
    return Explanation(kernel._explain(stage), kernel)


def _repr(kernel: Kernel) -> str:
    operands = ", ".join(f"{name}: {format} {element}".rstrip()
                         for name, (element, format, _) in kernel._types.items() if name in kernel.inputs)
    return f"<tulle.Kernel {kernel.program!r}, {operands or 'no operands'}>"


Kernel.__repr__ = _repr
Kernel.explain = _explain
Kernel.__reduce__ = reduce_kernel


class Results(dict):
    """The results of a program, by name: ``r["y"]`` or ``r.y``."""

    def __getattr__(self, name: str):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the program computes no {name!r}; it computes {', '.join(self)}") from None


def _text(value, name: str) -> str:
    if not isinstance(value, str):
        raise TulleError(f"{name}: expected a text, got {type(value).__name__}")
    return value


def _options(*, threads: int = 0, deterministic: bool = False, schedule: str = "", strict_fp: bool = False,
             vl: int = 0, scalable: bool = False, index32: bool = True, tail: str = "auto", any_size: bool = False,
             results=(), given=(), disk_cache: bool = True) -> _core.CompileOptions:
    options = _core.CompileOptions()
    options.threads = _index(threads, "threads")
    options.deterministic = bool(deterministic)
    options.schedule = _text(schedule, "schedule")
    options.strict_fp = bool(strict_fp)
    options.vl = _index(vl, "vl")
    options.scalable = bool(scalable)
    options.index32 = bool(index32)
    options.tail = _text(tail, "tail")
    options.any_size = bool(any_size)
    options.results = list(results)
    options.given = list(given)
    options.disk_cache = bool(disk_cache)
    return options


_COMMENT = re.compile(r"#|//")
_GOES_ON = re.compile(r"(?:[;{=+\-*/%(,&|\\~<>^!:]|\b(?:where|until|repeat|in|else))\Z")
_BELONGS_TO_BEFORE = re.compile(r"(?:[+\-*/%(),&|\\<>=^}]|where\b|until\b|else\b)")


@functools.lru_cache(maxsize=512)
def _statements(program: str) -> str:
    """Lines are statements: a semicolon where a line ends one. Comments begin with # or //; lines keep their numbers."""
    codes = [_COMMENT.split(line, maxsplit=1)[0].rstrip() for line in program.split("\n")]
    filled = [number for number, code in enumerate(codes) if code.strip()]
    depth = 0
    for here, following in zip(filled, filled[1:]):
        depth += codes[here].count("(") - codes[here].count(")")
        if depth <= 0 and not _GOES_ON.search(codes[here]) and not _BELONGS_TO_BEFORE.match(codes[following].lstrip()):
            codes[here] += ";"
    return "\n".join(codes)


def _result_types(formats, types, shapes) -> dict:
    """The types of results that the user names: formats by name, formats and element types, and shapes."""
    typed = {name: ("", format, []) for name, format in (formats or {}).items()}
    for name, (format, element) in (types or {}).items():
        typed[name] = (element, format, [])
    for name, shape in (shapes or {}).items():
        element, format, _ = typed.get(name, ("", "dense", []))
        typed[name] = (element, format, [_index(size, f"shape of {name}") for size in shape])
    return typed


def compile(program: str, *, dtype="f64", formats: dict | None = None, shapes: dict | None = None,
            tensors: dict | None = None, threads: int = 0, deterministic: bool = False, schedule: str = "", strict_fp: bool = False,
            vl: int = 0, scalable: bool = False, index32: bool = True, tail: str = "auto", any_size: bool = False,
            results=(), given=(), disk_cache: bool = True, **types) -> Kernel:
    """Compiles a program for tensors of given formats and element types, and any sizes.

    Parameters
    ----------
    program : str
        Index notation; statements are separated by semicolons or line ends.
    **types
        Of each operand, and of each result that is not dense: a format ("CSR"), a pair of format and dtype, or a
        tensor or array to compile for.
    dtype : default "f64"
        Element type of operands for which none is given.
    formats : dict, optional
        Formats of results, by name: the same as naming them in `types`.
    shapes : dict, optional
        Shapes by name: of a result that no operand's follow for, as of a scatter's; of operands they are free.
    tensors : dict, optional
        More of `types`: for names that are also parameters of this function.
    threads : int
        At most; 0: OMP_NUM_THREADS, else all cores of the process; 1: code without threads.
    deterministic : bool
        Results have the same bits for any number of threads.
    schedule : str
        How to compute: "reorder(i, k, j); assemble(C, count)".
    strict_fp : bool
        Floating-point sums keep the order of the loops.
    vl : int
        Elements of a vector, a power of 2 up to 64; 0: chosen for processor and type.
    scalable : bool
        Vectors are multiples of `vl` elements, as many as the processor's registers hold (SVE).
    index32 : bool
        Gather with 32-bit indices where coordinates fit; False: with 64-bit ones always.
    tail : "auto" or "mask"
        The iterations behind the last whole vector of a loop: one masked vector, or as is fastest.
    any_size : bool
        One code for all sizes. By default the lengths of rows of dense operands, up to 1024 bytes, are constants
        of it where types are tensors, or shapes are given: it is compiled sooner, and again for other lengths, of
        which the first eight have code of their own.
    results : sequence of str
        Results besides those that no later statement reads.
    given : sequence of str
        Results that the kernel takes a first value of, to which a statement adds.

    Raises
    ------
    TulleError
        With line and column, for what is wrong with the text.

    Examples
    --------
    >>> spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR", x="dense")
    >>> y = spmv(tl.asarray(S), x)
    """
    program = _statements(_text(program, "program"))
    inputs = [*_core.operands(program), *given]
    default = lambda name: element_of(dtype) if name in inputs else ""  # a result's follows from operands
    typed = _result_types(formats, None, None)
    for name, type in {**types, **(tensors or {})}.items():
        typed[name] = _type_of(type, default(name), name)
    for name, shape in (shapes or {}).items():
        element, format, _ = typed.get(name, (default(name), "dense", []))
        typed[name] = (element, format, [_index(size, f"shape of {name}") for size in shape])
    for name in inputs:
        if name in _core.operands(program) or name in _core.results(program):
            typed.setdefault(name, (element_of(dtype), "dense", []))
    return _core.compile(program, typed, _options(threads=threads, deterministic=deterministic, schedule=schedule,
                                                  strict_fp=strict_fp, vl=vl, scalable=scalable, index32=index32,
                                                  tail=tail, any_size=any_size, results=results, given=given,
                                                  disk_cache=disk_cache))


def _type_of(type, element: str, name: str):
    if isinstance(type, str):
        return (element, type, [])
    if isinstance(type, tuple) and len(type) == 2 and isinstance(type[0], str):
        return (element_of(type[1], name), type[0], [])
    tensor = type if isinstance(type, Tensor) else as_operand(type, name)
    return (tensor._element, tensor.encoding, list(tensor.shape))


_EINSUM = re.compile(r"(?:[\w\s,]|\.\.\.)*(->(?:[\w\s]|\.\.\.)*)?\Z")


def _from_numpy(subscripts: str, operands) -> tuple[str, dict]:
    """A program, and its tensors, of subscripts as numpy.einsum takes them."""
    text = re.sub(r"\s", "", subscripts)
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise TulleError(f"einsum: {subscripts!r} has {len(terms)} operands, but {len(operands)} are given")
    if not arrow:
        letters = inputs.replace(".", "").replace(",", "")
        output = "..." * ("..." in inputs) + "".join(sorted(i for i in set(letters) if letters.count(i) == 1))
    accesses, spread, result = terms, [], output
    if "." in text:
        accesses, spread = _spread(terms, [x.shape if hasattr(x, "shape") else np.shape(x) for x in operands])
        result = _indices(output, spread)
    for index in result:
        if not any(index in access for access in accesses) or result.count(index) > 1:
            raise TulleError(f"einsum: the result's index {index!r} must stand once there, and in an operand")
    if spread and "..." not in output:
        raise TulleError(f"einsum: the result of {subscripts!r} has the dimensions of '...', too")
    access = lambda name, term: name + (f"({','.join('i_' + i for i in term)})" if term else "")
    names = [f"operand{k}" for k in range(len(terms))]
    product = " * ".join(map(access, names, accesses))
    return f"{access('result', result)} = {product}", dict(zip(names, operands))


def _indices(term: str, spread: list[str]) -> list[str]:
    """The indices of a term, in which '...' stands for others."""
    head, dots, tail = term.partition("...")
    if "." in tail:
        raise TulleError(f"einsum: '...' stands twice in {term!r}")
    return [*head, *(spread if dots else []), *tail]


def _spread(terms: list[str], shapes: list[tuple]) -> tuple[list[list[str]], list[str]]:
    """The indices of each operand, and those that '...' stands for: counted from the last dimension of it, as NumPy
    broadcasts. A dimension of size 1 that others have longer gets an index of its own, which is summed."""
    counts = [len(shape) - len(term.replace(".", "")) if "..." in term else 0 for term, shape in zip(terms, shapes)]
    if min(counts) < 0:
        raise TulleError(f"einsum: {','.join(terms)!r} has more indices than an operand has dimensions")
    spread = [f"e{d}" for d in range(max(counts))]
    sizes: dict[str, int] = {}
    parts = []
    for term, shape, count in zip(terms, shapes, counts):
        own = spread[len(spread) - count:]
        parts.append((term, own, shape[term.find("."):] if own else ()))
        for index, size in zip(own, parts[-1][2]):
            sizes[index] = max(size, sizes.get(index, 0))
    made = []
    for k, (term, own, shape) in enumerate(parts):
        made.append(_indices(term, [f"{i}of{k}" if size == 1 < sizes[i] else i for i, size in zip(own, shape)]))
    return made, spread


def einsum(program: str, *operands, format: str | None = None, formats: dict | None = None,
           types: dict | None = None, shapes: dict | None = None, out=None, tensors: dict | None = None, wrap: bool = False,
           threads: int = 0, deterministic: bool = False, schedule: str = "", strict_fp: bool = False, vl: int = 0,
           scalable: bool = False, index32: bool = True, tail: str = "auto", any_size: bool = False, **named):
    """Computes a program on arrays and returns the result that is written last.

    Parameters
    ----------
    program : str
        Index notation with named operands, ``einsum("y(i) = A(i,j) * x(j)", A=A, x=x)``, or subscripts as
        numpy.einsum takes them, ``einsum("ij,j->i", A, x)``.
    *operands, **named, tensors
        Tensors, NumPy's and SciPy's arrays, whatever `asarray` takes. `tensors` has those whose names are also
        parameters of this function.
    format : str, optional
        Of the result that is returned. By default it is dense.
    formats : dict, optional
        Of results by name, intermediate ones included.
    shapes : dict, optional
        Of results by name, where operands do not say it: ``einsum("Z(p(i),k) += Y(i,k)", …, shapes={"Z": (9, 4)})``.
    out : array, optional
        Receives a dense result.

    Other parameters are those of `compile`.

    Returns
    -------
    A NumPy array where the result is dense, else a Tensor.

    Examples
    --------
    >>> tl.einsum("C(i,j) = A(i,k) * B(k,j) where M", A=A, B=B, M=M, formats={"C": "CSR"})
    """
    if operands and not _EINSUM.match(_text(program, "program")):
        names = ", ".join(f"{name}=…" for name in _core.operands(program))
        raise TulleError(f"einsum: operands of index notation are given by name: einsum({program!r}, {names})")
    if operands or _EINSUM.match(_text(program, "program")):
        program, named = _from_numpy(program, operands)
        if format is not None:
            formats = {"result": format}
    else:
        program = _statements(program)
        if tensors:
            named |= tensors
        if format is not None:
            formats = {**(formats or {}), _core.results(program)[-1]: format}
    options = (threads, deterministic, schedule, strict_fp, vl, scalable, index32, tail, any_size, ())
    kernel = _kernel(program, named, formats, types, shapes, options)
    result = kernel(*[named[name] for name in kernel.inputs], out=out)
    if wrap and not isinstance(result, Tensor):
        return as_operand(result, "result")
    return result


_kernels: dict = {}
_MOST_KERNELS = 512


def _kernel(program: str, named: dict, formats, types, shapes, options) -> Kernel:
    """The kernel for tensors like these; it stays in memory. `named` receives tensors for what it has else."""
    key = [program, options]
    for name, value in named.items():
        # Of an array that is not stored row by row, the tensor has a format that the key must have.
        if not (isinstance(value, Tensor) or type(value) is np.ndarray and value.flags.c_contiguous):
            value = named[name] = as_operand(value, name)
        if formats and name in formats:  # a result whose first value is given
            value = named[name] = (value if isinstance(value, Tensor) else as_operand(value, name)).to(formats[name])
        key.append((name, value.type_key if isinstance(value, Tensor) else (value.dtype, value.ndim)))
    if formats:
        key.append(tuple(formats.items()))
    if types:
        key.append(tuple(types.items()))
    if shapes:
        key.append(tuple((name, tuple(shape)) for name, shape in shapes.items()))
    key = tuple(key)
    kernel = _kernels.get(key)
    if kernel is None:
        threads, deterministic, schedule, strict_fp, vl, scalable, index32, tail, any_size, results = options
        typed = _result_types(formats, types, shapes)
        typed |= {name: _type_of(value, "", name) for name, value in named.items()}
        operands = _core.operands(program)
        given = [name for name in named if name not in operands]  # what a statement adds to
        kernel = _core.compile(program, typed, _options(threads=threads, deterministic=deterministic, schedule=schedule,
                                                        strict_fp=strict_fp, vl=vl, scalable=scalable, index32=index32,
                                                        tail=tail, any_size=any_size, results=results, given=given))
        if len(_kernels) >= _MOST_KERNELS:
            _kernels.pop(next(iter(_kernels)), None)
        _kernels[key] = kernel
    return kernel


def run(program: str, *, formats: dict | None = None, types: dict | None = None, shapes: dict | None = None, results=(),
        tensors: dict | None = None, threads: int = 0, deterministic: bool = False, schedule: str = "",
        strict_fp: bool = False, vl: int = 0, scalable: bool = False, index32: bool = True, tail: str = "auto",
        any_size: bool = False, **named) -> Results:
    """Computes a program of several statements on arrays and returns all of its results, by name.

    Parameters are those of `einsum`; `results` names intermediate tensors that are wanted, too.

    Examples
    --------
    >>> r = tl.run('''m(i) max= A(i,j) where A
    ...               p(i,j) = exp(A(i,j) - m(i)) where A''', A=A, formats={"p": "CSR"})
    >>> r.p
    """
    program = _statements(_text(program, "program"))
    named |= tensors or {}
    options = (threads, deterministic, schedule, strict_fp, vl, scalable, index32, tail, any_size, tuple(results))
    kernel = _kernel(program, named, formats, types, shapes, options)
    return Results(kernel._run(named, {}))


def jit(function):
    """A function of tensors whose text is a program, compiled when it is called.

    The function's docstring is the program, its parameters are operands, and annotations are formats: operands
    are converted to theirs, and the result is stored in that of the function.

    Examples
    --------
    >>> @tl.jit
    ... def sddmm(A: "CSR", U, V) -> "CSR":
    ...     "C(i,j) = A(i,j) * U(i,k) * V(k,j)"
    """
    if not callable(function):
        raise TulleError("jit: expected a function, whose docstring is the program; tulle.compile(text, …) and "
                         "tulle.einsum(text, …) take the program itself")
    program = inspect.getdoc(function)
    if not program:
        raise TulleError(f"jit: the function {function.__name__} has no docstring, which is the program")
    signature = inspect.signature(function)
    wanted = {name: p.annotation for name, p in signature.parameters.items() if p.annotation is not p.empty}
    format = None if signature.return_annotation is signature.empty else signature.return_annotation

    @functools.wraps(function)
    def call(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        named = dict(bound.arguments)
        for name, to in wanted.items():
            named[name] = as_operand(named[name], name) if not isinstance(named[name], Tensor) else named[name]
            named[name] = named[name].to(to)
        return einsum(program, tensors=named, format=format)

    return call
