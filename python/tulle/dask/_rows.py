"""A tensor in partitions of rows, as a Dask collection."""

import functools
import os
import pathlib

import numpy as np
from dask import delayed
from dask.base import DaskMethodsMixin, replace_name_in_key
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.threaded import get as threaded_get

from .._errors import TulleError
from .._tensor import Tensor, _index, as_operand
from .._types import dtype_of, element_of
from . import _tasks


class Lazy(DaskMethodsMixin):
    """What Dask has to know of a collection: `parts`, and how their values become one."""

    __dask_scheduler__ = staticmethod(threaded_get)
    __dask_optimize__ = None

    def __dask_graph__(self):
        return HighLevelGraph.merge(*(part.__dask_graph__() for part in self.parts))

    def __dask_keys__(self):
        return [part.key for part in self.parts]

    def __dask_layers__(self):
        return tuple(layer for part in self.parts for layer in part.__dask_layers__())

    def __dask_tokenize__(self):
        return type(self).__name__, *self.__dask_keys__()

    def __dask_postpersist__(self):
        return self._rebuilt, (self.__dask_keys__(),)

    def _rebuilt(self, graph, keys, *, rename=None):
        return self._with([Delayed(replace_name_in_key(key, rename) if rename else key, graph) for key in keys])


class Rows(Lazy):
    """A tensor whose rows are in partitions: a Dask collection (compute, persist, visualize).

    Made by `from_tensor`, `from_files`, `from_array` and `einsum`. `compute` returns the whole: a NumPy array where
    it is dense, else a Tensor.
    """

    def __init__(self, parts, bounds, shape, element: str, encoding: str, *, entries=None, here=False, plan=None):
        self._parts = parts  # Delayed objects, or a function that makes them
        self.bounds = np.asarray(bounds, dtype=np.int64)
        self.shape = tuple(shape)
        self._element, self.encoding = element, encoding
        self._entries, self._here, self._plan = entries, here, plan
        self._named, self._counts = {}, None

    @property
    def parts(self) -> list:
        """The partitions as Delayed objects: tensors, or arrays where the tensor is dense."""
        if callable(self._parts):
            self._parts = self._parts()
        return self._parts

    def to_delayed(self) -> list:
        return list(self.parts)

    @property
    def npartitions(self) -> int:
        return len(self.bounds) - 1

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self._element)

    @property
    def is_dense(self) -> bool:
        return self.encoding == "dense"

    @property
    def format(self) -> str:
        """The name of the partitions' format; the encoding of one without a name."""
        return _named_format(self.encoding, self.ndim)

    @property
    def entries(self) -> np.ndarray:
        """Stored entries of each partition; computes the partitions where they are not known."""
        if self._entries is None:
            rows = self.row_counts()
            self._entries = np.array([rows[a:b].sum() for a, b in zip(self.bounds, self.bounds[1:])], dtype=np.int64)
        return self._entries

    @property
    def imbalance(self) -> float:
        """The entries of the largest partition over the mean."""
        return float(self.entries.max() / max(self.entries.mean(), 1e-300)) if self.entries.sum() else 1.0

    @property
    def entry_bytes(self) -> int:
        """Bytes of a stored entry, with its coordinates."""
        if self.is_dense:
            return self.dtype.itemsize
        width = 8 if "crdWidth = 64" in self.encoding else 4
        return self.dtype.itemsize + width * max(self.ndim - 1, 1)

    def part_bytes(self) -> np.ndarray:
        """Bytes of each partition: its entries, and for each row where it begins."""
        rows = np.diff(self.bounds) * (0 if self.is_dense else 8 if "posWidth = 64" in self.encoding else 4)
        return self.entries * self.entry_bytes + rows

    def row_counts(self) -> np.ndarray:
        """Stored entries of each row."""
        if self._counts is None:
            if self.is_dense:
                row = int(np.prod(self.shape[1:], dtype=np.int64))
                self._counts = np.full(self.shape[0], row, dtype=np.int64)
            else:
                self._counts = np.concatenate(self._of_parts(_tasks.counts))
        return self._counts

    def named(self, axis: int) -> list:
        """Of each partition, the coordinates of a dimension at which it stores anything."""
        if axis not in self._named:
            self._named[axis] = self._of_parts(_tasks.named, axis)
        return self._named[axis]

    def _of_parts(self, function, *arguments) -> list:
        """Small values of all partitions, computed now: here where they are, else where Dask computes."""
        import dask

        tasks = [delayed(function, pure=False)(part, *arguments) for part in self.parts]
        return list(dask.compute(*tasks, **({"scheduler": "threads"} if self._here else {})))

    def repartition(self, npartitions: int | None = None, *, bounds=None) -> "Rows":
        """The same rows in other partitions: as many, balanced by stored entries, or with these bounds."""
        if bounds is None:
            bounds = balanced(self.row_counts(), _at_least_one(npartitions, "npartitions"))
        bounds = np.asarray(bounds, dtype=np.int64)
        if np.array_equal(bounds, self.bounds):
            return self

        def parts():
            return [self._cut(first, last) for first, last in zip(bounds, bounds[1:])]

        counts = self._counts
        entries = None if counts is None else [counts[a:b].sum() for a, b in zip(bounds, bounds[1:])]
        made = Rows(parts, bounds, self.shape, self._element, self.encoding, here=self._here,
                    entries=None if entries is None else np.array(entries, dtype=np.int64))
        made._counts = counts
        return made

    def _cut(self, first: int, last: int) -> Delayed:
        """Rows of the whole, of the partitions that have them."""
        pieces = []
        for part, low, high in zip(self.parts, self.bounds, self.bounds[1:]):
            begin, end = max(first, low), min(last, high)
            if begin < end or (first == last and not pieces and low <= first <= high):
                pieces.append(delayed(_tasks.cut, pure=False)(part, int(begin - low), int(max(begin, end) - low),
                                                              self.encoding))
        return pieces[0] if len(pieces) == 1 else delayed(_tasks.joined, pure=False)(pieces, self.encoding)

    def to_dask_array(self):
        """A dask.array with a chunk for each partition; of a dense result."""
        import dask.array as da

        if not self.is_dense:
            raise TulleError(f"a dask.array has dense chunks, but the rows are stored as {self.format}; say format=\"dense\"")
        shapes = [(int(rows), *self.shape[1:]) for rows in np.diff(self.bounds)]
        return da.concatenate([da.from_delayed(part, shape, dtype=self.dtype) for part, shape in zip(self.parts, shapes)])

    def explain(self):
        """What computing this needs: a `Plan` of a result of `einsum`, else a line."""
        return self._plan() if self._plan else repr(self)

    def __dask_postcompute__(self):
        return _tasks.joined, (self.encoding,)

    def _with(self, parts) -> "Rows":
        made = Rows(parts, self.bounds, self.shape, self._element, self.encoding, entries=self._entries)
        made._named, made._counts = self._named, self._counts
        return made

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.shape))
        return f"<tulle.dask.Rows {sizes}, {self.dtype}, {self.format}, {self.npartitions} partitions>"


class Total(Lazy):
    """A result to which all partitions contribute: a Dask collection of one part."""

    def __init__(self, part, plan):
        self._part, self._plan = part, plan  # a Delayed object, or a function that makes it

    @property
    def parts(self) -> list:
        if not isinstance(self._part, Delayed):
            self._part = self._part()
        return [self._part]

    def explain(self):
        """What computing this needs: a `Plan`."""
        return self._plan()

    def __dask_postcompute__(self):
        return (lambda parts: parts[0]), ()

    def _with(self, parts) -> "Total":
        return Total(parts[0], self._plan)


@functools.lru_cache(maxsize=256)
def _named_format(encoding: str, ndim: int) -> str:
    from .._array_api_creation import zeros

    return "dense" if encoding == "dense" else zeros((0,) * ndim, dtype="f64", format=encoding).format


def balanced(counts: np.ndarray, npartitions: int) -> np.ndarray:
    """Bounds of rows so that partitions have about as many entries each; no more partitions than rows."""
    rows = len(counts)
    npartitions = max(1, min(npartitions, rows))
    before = np.concatenate([[0], np.cumsum(counts)])
    bounds = np.searchsorted(before, before[-1] * np.arange(1, npartitions) / npartitions)
    # Each has a row at least, be it of a matrix whose entries are all in one.
    least, most = np.arange(1, npartitions), rows - npartitions + np.arange(1, npartitions)
    bounds = np.maximum.accumulate(np.clip(bounds, least, most) - least) + least
    return np.concatenate([[0], np.minimum(bounds, most), [rows]]).astype(np.int64)


def _at_least_one(number, name: str) -> int:
    number = _index(os.cpu_count() if number is None else number, name)
    if number < 1:
        raise TulleError(f"{name}: {number} partitions; there is at least one")
    return number


def from_tensor(tensor, npartitions: int | None = None, *, format: str | None = None, bounds=None) -> Rows:
    """Partitions of the rows of a tensor or array in this process, balanced by stored entries.

    Parameters
    ----------
    tensor : Tensor, or whatever `tulle.asarray` takes
    npartitions : int, default the number of processors
    format : str, optional
        Of the partitions; by default the tensor's.
    bounds : sequence of int, optional
        The first row of each partition, and the number of rows: another division than the balanced one.

    Examples
    --------
    >>> A = tulle.dask.from_tensor(S, 8).persist()      # with a distributed.Client: on its workers
    """
    whole = tensor if isinstance(tensor, (Tensor, np.ndarray)) else as_operand(tensor, "tensor")
    if isinstance(whole, Tensor) and whole.format == "dense":
        whole = np.asarray(whole.todense())
    if not whole.shape:
        raise TulleError("from_tensor: a scalar has no rows")
    if isinstance(whole, np.ndarray):
        element, encoding = element_of(whole.dtype, "tensor"), "dense"
        if format not in (None, "dense"):
            whole = as_operand(np.ascontiguousarray(whole), "tensor")
    if isinstance(whole, Tensor):
        whole = whole.to(format) if format else whole.to(_without_views(whole))
        element, encoding = whole._element, whole.encoding
    counts = _tasks.counts(whole)
    bounds = balanced(counts, _at_least_one(npartitions, "npartitions")) if bounds is None else _checked(bounds, len(counts))

    def parts():
        return [delayed(_tasks.cut(whole, int(a), int(b), encoding), pure=False, traverse=False)
                for a, b in zip(bounds, bounds[1:])]

    entries = np.array([counts[a:b].sum() for a, b in zip(bounds, bounds[1:])], dtype=np.int64)
    made = Rows(parts, bounds, whole.shape, element, encoding, entries=entries, here=True)
    made._counts = counts
    return made


def _without_views(tensor: Tensor) -> str:
    """The encoding of a copy of a view's rows."""
    from .._operands import default_format, without_slices

    return default_format(tensor.ndim) if "loose_compressed" in tensor.encoding else without_slices(tensor.encoding)


def _checked(bounds, rows: int) -> np.ndarray:
    bounds = np.asarray(bounds, dtype=np.int64)
    if bounds.ndim != 1 or len(bounds) < 2 or bounds[0] != 0 or bounds[-1] != rows or (np.diff(bounds) < 0).any():
        raise TulleError(f"bounds: expected ascending numbers from 0 to {rows}, the number of rows")
    return bounds


def from_files(paths, *, format: str = "CSR", dtype="f64", shapes=None) -> Rows:
    """Files that hold the rows of a tensor one after another, each a partition; workers read them.

    Parameters
    ----------
    paths : sequence of paths, or a pattern such as "part-*.mtx"
        That all workers can read.
    format : str
        Of the partitions.
    dtype : default "f64"
    shapes : sequence of tuple of int, optional
        Of each file; where it is not given, the files are read once for it.

    Raises
    ------
    TulleError
        Where there is no file, or they have different sizes behind the rows.
    """
    import dask

    if isinstance(paths, (str, os.PathLike)):
        pattern = pathlib.Path(paths)
        paths = sorted(pattern.parent.glob(pattern.name))
    paths = [os.path.abspath(path) for path in paths]
    if not paths:
        raise TulleError("from_files: there is no such file")
    if shapes is None:
        shapes = dask.compute(*[delayed(_shape_of, pure=False)(path) for path in paths])
    shapes = [tuple(shape) for shape in shapes]
    for path, shape in zip(paths, shapes):
        if len(shape) < 1 or shape[1:] != shapes[0][1:]:
            raise TulleError(f"from_files: {path} has the sizes {shape}, but the first file has {shapes[0]}; parts of one "
                             "tensor differ in the number of rows only")
    bounds = np.concatenate([[0], np.cumsum([shape[0] for shape in shapes])])
    element = element_of(dtype)
    shape = (int(bounds[-1]), *shapes[0][1:])
    encoding = "dense" if format == "dense" else _encoding(shape, element, format)

    def parts():
        return [delayed(_tasks.loaded, pure=False)(path, encoding, element) for path in paths]

    return Rows(parts, bounds, shape, element, encoding)


def _shape_of(path):
    from .._io import load

    return load(path).shape


def _encoding(shape, element: str, format: str) -> str:
    """The encoding that tensors of this shape have in a format, with its widths."""
    from .._array_api_creation import zeros

    return zeros(shape, dtype=element, format=format).encoding


def from_array(array, *, format: str | None = None, dtype=None) -> Rows:
    """The rows of a dask.array, a partition for each chunk of rows; chunks are arrays, or tensors of Tulle or SciPy.

    Parameters
    ----------
    format : str, optional
        Of the partitions; by default they are dense.
    """
    element = element_of(array.dtype if dtype is None else dtype)
    whole = array.rechunk({axis: -1 for axis in range(1, array.ndim)}) if array.ndim > 1 else array
    encoding = "dense" if format in (None, "dense") else _encoding(array.shape, element, format)
    blocks = [block for block in np.asarray(whole.to_delayed(), dtype=object).reshape(-1)]
    bounds = np.concatenate([[0], np.cumsum(whole.chunks[0])])

    def parts():
        return [delayed(_tasks.stored, pure=False)(block, encoding) for block in blocks]

    return Rows(parts, bounds, array.shape, element, encoding)
