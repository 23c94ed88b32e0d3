"""Programs on rows in partitions: the graph of their kernels."""

import numpy as np
from dask import delayed

from .. import _core
from .._errors import TulleError
from .._operands import array_of, is_dense
from .._program import Results, _from_numpy, _EINSUM, _options, _result_types, _statements
from .._tensor import Tensor, as_operand
from .._types import dtype_of
from . import _tasks
from ._plan import Plan
from ._roles import roles_of
from ._rows import Rows, Total, from_tensor

_WORTH = 0.75  # of all coordinates: above, a partition gets the whole dimension


def einsum(program: str, *operands, format: str | None = None, formats: dict | None = None, types: dict | None = None,
           tensors: dict | None = None, threads: int = 1, schedule: str = "", strict_fp: bool = False, vl: int = 0,
           scalable: bool = False, index32: bool = True, tail: str = "auto", any_size: bool = False, **named):
    """Computes a program on operands of which some are in partitions of rows; nothing is computed yet.

    Every statement follows the rows of one such operand, as ``y(i) = A(i,j) * x(j)``, or reduces over them,
    ``y(j) = A(i,j) * x(i)``. Partitions get of other operands the rows and columns that their entries name, where
    others do not matter (`explain`). The kernel is compiled here, once, and sent to workers as object code; those
    with another processor compile it.

    Parameters
    ----------
    program : str
        As `tulle.einsum` takes it.
    *operands, **named, tensors
        `Rows`, and whatever `tulle.asarray` takes.
    threads : int, default 1
        Of a partition's kernel; partitions run in parallel.

    Others are those of `tulle.einsum`.

    Returns
    -------
    Rows, or Total where the result has no rows that are one partition's: Dask collections, whose `explain` says what
    is communicated.

    Raises
    ------
    TulleError
        For statements that need other rows of what the program computes.

    Examples
    --------
    >>> A = tulle.dask.from_tensor(S, 8)
    >>> y = tulle.dask.einsum("y(i) = A(i,j) * x(j)", A=A, x=x)
    >>> print(y.explain()); y.compute()
    """
    if operands or _EINSUM.match(program):
        program, named = _from_numpy(program, operands)
    last = _core.results(_statements(program))[-1]
    if format is not None:
        formats = {**(formats or {}), last: format}
    return run(program, formats=formats, types=types, tensors=tensors, threads=threads, schedule=schedule,
               strict_fp=strict_fp, vl=vl, scalable=scalable, index32=index32, tail=tail, any_size=any_size, **named)[last]


def run(program: str, *, formats: dict | None = None, types: dict | None = None, tensors: dict | None = None, results=(),
        threads: int = 1, schedule: str = "", strict_fp: bool = False, vl: int = 0, scalable: bool = False,
        index32: bool = True, tail: str = "auto", any_size: bool = False, **named) -> Results:
    """Computes a program of several statements, as `einsum`; returns all of its results, by name."""
    program = _statements(program)
    named |= tensors or {}
    operands = {name: value if isinstance(value, Rows) else _local(value, name) for name, value in named.items()}
    if not any(isinstance(value, Rows) for value in operands.values()):
        raise TulleError("no operand is in partitions of rows; make one by from_tensor, from_files or from_array, or use "
                         "tulle.einsum")
    options = _options(threads=threads, schedule=schedule, strict_fp=strict_fp, vl=vl, scalable=scalable, index32=index32,
                       tail=tail, any_size=any_size, results=results)
    computation = _Computation(program, operands, _result_types(formats, types, None), options)
    return Results({name: computation.result(name) for name in computation.kernel.results})


def _local(value, name: str):
    """An operand in this process: an array where it is dense."""
    tensor = value if isinstance(value, Tensor) else as_operand(value, name)
    return array_of(tensor) if is_dense(tensor) and tensor._element != "bf16" else tensor


class _Computation:
    """A program, its operands, and what a partition needs of them."""

    def __init__(self, program: str, operands: dict, result_types: dict, options):
        self.program = program
        typed = result_types | {name: (*_type_of(value, name), []) for name, value in operands.items()}
        self.kernel = _core.compile(program, typed, options)
        self.types = typed
        in_rows = [name for name in self.kernel.inputs if isinstance(operands[name], Rows)]
        in_rows.sort(key=lambda name: operands[name].is_dense)  # sparse ones say the bounds
        self.roles = roles_of(self.kernel, in_rows)
        self.driver = next((name for name in in_rows if name in self.roles.rows), None)
        if self.driver is None:
            raise TulleError(f"no statement follows the rows of {' or '.join(in_rows)}: the first subscript there must be an "
                             "index, alone")
        self.bounds = operands[self.driver].bounds
        self.operands = {name: self._aligned(name, value) for name, value in operands.items()}
        self._node = None

    @property
    def npartitions(self) -> int:
        return len(self.bounds) - 1

    def _aligned(self, name: str, value):
        if name not in self.roles.rows:
            return value
        rows = int(self.bounds[-1])
        if value.shape[0] != rows:
            raise TulleError(f"'{name}' has {value.shape[0]} rows, but {self.driver} has {rows}")
        return value.repartition(bounds=self.bounds) if isinstance(value, Rows) else from_tensor(value, bounds=self.bounds)

    def picks(self, name: str) -> list:
        """Of each partition, the coordinates that matter of a shared operand, by dimension, where not all do."""
        picks = [{} for _ in range(self.npartitions)]
        for axis in range(self.operands[name].ndim):
            source = self.roles.restricted.get((name, axis))
            named = source and self.operands[source[0]].named(source[1])
            if named and sum(map(len, named)) < _WORTH * self.operands[name].shape[axis] * self.npartitions:
                for p, coordinates in enumerate(named):
                    picks[p][axis] = coordinates
        return picks

    # The graph.

    def result(self, name: str):
        if name in self.roles.totals:
            return Total(lambda: self._total(name), self.plan)
        if name not in self.roles.rows:
            return Total(lambda: self._results(0, name), self.plan)
        shape = self._shape(name)
        element, encoding = self._stored(name)

        def parts():
            return [self._results(p, name) for p in range(self.npartitions)]

        return Rows(parts, self.bounds, shape, element, encoding, plan=self.plan)

    def _total(self, name: str):
        parts, reduction = [self._results(p, name) for p in range(self.npartitions)], self.roles.totals[name]
        while len(parts) > 1:
            parts = [delayed(_tasks.combined, pure=False)(reduction, parts[first : first + 8])
                     for first in range(0, len(parts), 8)]
        return parts[0]

    def _results(self, p: int, name: str):
        if self._node is None:
            code = delayed(self.kernel, pure=False, traverse=False)
            self._node = [delayed(_tasks.computed, pure=False)(code, operands) for operands in self._inputs()]
        return delayed(_tasks.result, pure=False)(self._node[p], name)

    def _inputs(self) -> list:
        """Of each partition, its operands by name."""
        inputs = [{} for _ in range(self.npartitions)]
        for name in self.kernel.inputs:
            for p, part in enumerate(self._parts_of(name)):
                inputs[p][name] = part
        return inputs

    def _parts_of(self, name: str) -> list:
        value, encoding = self.operands[name], self.types[name][1]
        if name in self.roles.rows:
            return value.parts
        if name in self.roles.sliced:
            axis = self.roles.sliced[name]
            spans = [np.arange(a, b) for a, b in zip(self.bounds, self.bounds[1:])]
            return [delayed(_tasks.picked(value, {axis: span}, encoding), pure=False, traverse=False) for span in spans]
        picks = self.picks(name)
        if not any(picks):
            whole = (delayed(_tasks.joined, pure=False)(value.parts, encoding) if isinstance(value, Rows)
                     else delayed(value, pure=False, traverse=False))
            return [whole] * self.npartitions
        spread = delayed(_tasks.spread, pure=False)
        return [spread(self._pieces(value, picks[p], encoding), picks[p], value.shape, encoding)
                for p in range(self.npartitions)]

    def _pieces(self, value, picks: dict, encoding: str) -> list:
        """What is sent of a shared operand: of one in this process it is cut here."""
        if not isinstance(value, Rows):
            return [delayed(_tasks.picked(value, picks, encoding), pure=False, traverse=False)]
        others = {axis: coordinates for axis, coordinates in picks.items() if axis > 0}
        rows = picks.get(0, np.arange(value.shape[0]))
        cuts = np.searchsorted(rows, value.bounds)
        cut = [(q, rows[a:b] - value.bounds[q]) for q, (a, b) in enumerate(zip(cuts, cuts[1:])) if a < b]
        return [delayed(_tasks.picked, pure=False)(value.parts[q], {0: own, **others}, encoding)
                for q, own in cut or [(0, rows)]]

    # Types of results.

    def _shape(self, name: str) -> tuple:
        for statement in self.kernel._statements:
            if statement.result.tensor == name:
                return tuple(self._size(statement, index) for index in statement.result.subscripts)
        raise AssertionError(name)

    def _size(self, statement, index: str) -> int:
        for operand in statement.operands:
            for axis, subscript in enumerate(operand.subscripts):
                if subscript == index:
                    shape = self.operands[operand.tensor].shape if operand.tensor in self.operands else self._shape(operand.tensor)
                    return shape[axis]
        raise TulleError(f"the size of {index}, an index of '{statement.result.tensor}', does not follow from an operand")

    def _stored(self, name: str) -> tuple:
        """Element type and encoding of a result, as the kernel makes it of operands without rows."""
        empty = {}
        for operand, value in self.operands.items():
            shape = [0 if (operand in self.roles.rows and axis == 0) or self.roles.sliced.get(operand) == axis else size
                     for axis, size in enumerate(value.shape)]
            element, encoding, _ = self.types[operand]
            empty[operand] = _empty(shape, element, encoding)
        made = self.kernel._run(empty, {})[name]
        return as_operand(made, name)._element, made.encoding if isinstance(made, Tensor) else "dense"

    # What is communicated.

    def plan(self) -> Plan:
        driver = self.operands[self.driver]
        received, broadcast = {}, {}
        own = np.zeros(self.npartitions, dtype=np.int64)
        for name in self.kernel.inputs:
            value = self.operands[name]
            if name in self.roles.rows:
                own += value.part_bytes()
                continue
            whole = value if isinstance(value, Rows) else from_tensor(value, 1) if value.ndim else None
            total = int(whole.part_bytes().sum()) if whole else value.nbytes
            received[name] = self._received(name, value, whole, total)
            broadcast[name] = total
        return Plan(self.program, np.diff(self.bounds), driver.entries, own, received, broadcast, self._result_bytes(),
                    len(self.kernel._object_code()))

    def _received(self, name: str, value, whole, total: int) -> np.ndarray:
        if name in self.roles.sliced:
            return total * np.diff(self.bounds) // max(int(self.bounds[-1]), 1)
        if whole is None:
            return np.full(self.npartitions, total, dtype=np.int64)
        row_bytes = whole.row_counts() * whole.entry_bytes + (0 if whole.is_dense else 4)
        lies_here = isinstance(value, Rows) and np.array_equal(value.bounds, self.bounds)
        received = []
        for picks, first, last in zip(self.picks(name), self.bounds, self.bounds[1:]):
            rows = picks.get(0, np.arange(whole.shape[0]))
            if lies_here:  # a partition's own rows are where its others are
                rows = rows[(rows < first) | (rows >= last)]
            share = np.prod([len(of) / max(whole.shape[axis], 1) for axis, of in picks.items() if axis > 0])
            received.append(int(row_bytes[rows].sum() * share))
        return np.array(received, dtype=np.int64)

    def _result_bytes(self) -> np.ndarray:
        bytes = np.zeros(self.npartitions, dtype=np.int64)
        patterns = {statement.result.tensor: statement.pattern for statement in self.kernel._statements}
        for name in self.kernel.results:
            element, encoding = self._stored(name)
            if encoding == "dense":
                shape = self._shape(name)
                rows = np.diff(self.bounds) if name in self.roles.rows else np.ones(self.npartitions, dtype=np.int64)
                behind = shape[1:] if name in self.roles.rows else shape
                bytes += rows * int(np.prod(behind, dtype=np.int64)) * _empty([0], element, "dense").itemsize
            elif patterns.get(name) in self.roles.rows & self.operands.keys():
                bytes += self.operands[patterns[name]].part_bytes()
        return bytes


def _type_of(value, name: str) -> tuple:
    if isinstance(value, np.ndarray):
        return as_operand(value[:0] if value.ndim else value, name)._element, "dense"
    return value._element, value.encoding


def _empty(shape, element: str, encoding: str):
    from .._array_api_creation import zeros

    if encoding == "dense" and element != "bf16":
        return np.zeros(shape, dtype=dtype_of(element))  # whose pages nobody touches
    made = zeros(shape, dtype=element, format=encoding)
    return np.asarray(made.todense()) if encoding == "dense" else made
