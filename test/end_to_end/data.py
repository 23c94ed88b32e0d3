"""Small inputs from fixed seeds, written with SciPy's and our own plain writers, and results read back."""
import gzip

import numpy
import scipy.io
import scipy.sparse


def sparse(shape, density, seed, dtype="f8"):
    """A dense array with about `density` of its elements nonzero; at least one row and one column stay empty."""
    rng = numpy.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    if numpy.dtype(dtype).kind in "iu":
        values = rng.integers(1, 9, shape) * rng.choice([-1, 1], shape)
    array = numpy.where(rng.random(shape) < density, values, 0).astype(dtype)
    if array.ndim >= 2 and min(array.shape) > 2:
        array[1] = 0
        array[:, array.shape[1] // 2] = 0
    return array


def two_of_four(rows, columns, seed):
    """Exactly two nonzeros in every aligned group of four columns."""
    rng = numpy.random.default_rng(seed)
    array = numpy.zeros((rows, columns))
    for i in range(rows):
        for group in range(0, columns, 4):
            array[i, group + rng.choice(4, 2, replace=False)] = rng.standard_normal(2) + 3
    return array


def write(path, array):
    """Writes .npy, .mtx (nonzeros only) or .tns by the name."""
    array = numpy.asarray(array)
    if path.suffix == ".npy":
        numpy.save(path, array)
    elif path.suffix == ".mtx":
        # SciPy writes no narrow types.
        wide = {"f": "f8", "c": "c16", "i": "i8", "u": "i8", "b": "i8"}[array.dtype.kind]
        scipy.io.mmwrite(path, scipy.sparse.coo_matrix(array.astype(wide)), precision=17)
    else:
        # FROSTT files do not say their sizes: the last element is written even where it is zero.
        coordinates = numpy.argwhere(array != 0).tolist()
        last = [size - 1 for size in array.shape]
        if last not in coordinates:
            coordinates.append(last)
        path.write_text("".join(" ".join(str(c + 1) for c in at) + f" {array[tuple(at)].item()!r}\n" for at in coordinates))
    return path


def read_tns(path):
    """(coordinates, values) of a .tns or .tns.gz file."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt") as file:
        table = numpy.loadtxt((line for line in file if not line.startswith("#")), ndmin=2)
    return table[:, :-1].astype(int) - 1, table[:, -1]


def read_result(path, shape):
    """The dense array of a result file."""
    if path.suffix == ".npy":
        return numpy.load(path)
    if path.suffix == ".npz":
        with numpy.load(path) as archive:
            if "format" not in archive:
                return archive["arr_0"]
        return scipy.sparse.load_npz(path).toarray()
    if path.suffix == ".mtx":
        read = scipy.io.mmread(path)
        array = read.toarray() if scipy.sparse.issparse(read) else numpy.asarray(read)
        return array.reshape(shape) if array.size == numpy.prod(shape, dtype=int) else array
    array = numpy.zeros(shape)
    coordinates, values = read_tns(path)
    numpy.add.at(array, tuple(coordinates.T), values)
    return array


def stored_entries(path):
    """How many entries a sparse .mtx file holds."""
    return scipy.io.mminfo(path)[2]
