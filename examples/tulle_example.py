"""What the examples share: `tulle run` on arrays of NumPy and SciPy, and its results beside theirs."""
import pathlib
import subprocess
import sys
import tempfile

import numpy
import scipy.io
import scipy.sparse


def program(file):
    """The text of a program in the folder of the script."""
    return (pathlib.Path(sys.argv[0]).resolve().parent / file).read_text()


CORA = pathlib.Path(__file__).resolve().parent / "data" / "cora.mtx.gz"


def matrix(otherwise):
    """The file that the user named, else `otherwise`, a file or a matrix, as CSR with sorted columns."""
    made = sys.argv[1] if len(sys.argv) > 1 else otherwise
    made = made if scipy.sparse.issparse(made) else scipy.io.mmread(made)
    made = scipy.sparse.csr_matrix(made, dtype=float)
    made.sum_duplicates()
    return made


def padded(arrays):
    """A list of arrays whose first dimensions differ, as one array, and their lengths. What lies behind these is never read."""
    lengths = [len(a) for a in arrays]
    shape = (len(arrays), max(lengths), *arrays[0].shape[1:])
    made = numpy.full(shape, -99, arrays[0].dtype)
    for to, a in zip(made, arrays):
        to[: len(a)] = a
    return made, lengths


def _save(folder, name, tensor):
    """A file with the tensor: arrays and matrices are written, the text of a generator or file is taken as it is."""
    if isinstance(tensor, str):
        return tensor
    if scipy.sparse.issparse(tensor):
        scipy.sparse.save_npz(f"{folder}/{name}.npz", tensor)
        return f"{folder}/{name}.npz"
    numpy.save(f"{folder}/{name}.npy", tensor)
    return f"{folder}/{name}.npy"


def _load(file):
    if file.endswith(".npy"):
        return numpy.load(file)
    if file.endswith(".npz"):
        return scipy.sparse.load_npz(file)
    return numpy.loadtxt(file, ndmin=2)


def run(text, tensors, results, formats={}, lengths={}, dims={}, keep=()):
    """Runs a program. `results` are those wanted, each with the ending of a file: npy for dense ones, npz for matrices, tns (rows of
    coordinates from 1, and the value) for others. `lengths`: of ragged tensors, those of their second, third, … dimension. `dims`: sizes that
    nothing else gives. `keep`: results that a later statement reads."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["tulle", "run", text, "--quiet"]
        for name, tensor in tensors.items():
            command += ["-t", f"{name}={_save(folder, name, tensor)}"]
        for name, lists in lengths.items():
            files = [_save(folder, f"{name}-{d}", numpy.asarray(list)) for d, list in enumerate(lists)]
            command += ["--lengths", f"{name}={','.join(files)}"]
        for name, encoding in formats.items():
            command += ["-f", f"{name}={encoding}"]
        for name, sizes in dims.items():
            command += ["-d", f"{name}={'x'.join(map(str, sizes))}"]
        for name in keep:
            command += ["--keep", name]
        for name, ending in results.items():
            command += ["-o", f"{name}={folder}/result-{name}.{ending}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"tulle run failed:\n{done.stderr}")
        return {name: _load(f"{folder}/result-{name}.{ending}") for name, ending in results.items()}


def compare(what, got, want, other="NumPy"):
    """Prints whether two results are equal but for rounding; ends the program where they are not."""
    got, want = (m.toarray() if scipy.sparse.issparse(m) else numpy.asarray(m) for m in (got, want))
    if got.size != want.size:
        sys.exit(f"{what}: {got.size} values, {other} has {want.size}")
    error = abs(got.ravel() - want.ravel()).max(initial=0)
    if not error <= 1e-9 * max(abs(want).max(initial=0), 1e-300):
        sys.exit(f"{what}: differs from {other} by {error}")
    print(f"{what}: as {other}")
