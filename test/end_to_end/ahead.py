"""Programs compiled by `tulle compile`, called through ctypes on arrays that the model of storage makes."""
import ctypes
import json
import pathlib
import subprocess
import sys

import numpy
import scipy.io
import scipy.sparse

import data

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "convert"))
import encoding
import model
import walk

LARGEST = 20000  # entries that the model stores in a second
EMPTY = -1


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("count", ctypes.c_int64), ("width", ctypes.c_int32), ("kind", ctypes.c_int32)]


class Tensor(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("order", ctypes.c_uint32), ("levels", ctypes.c_uint32), ("nbuffers", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("buffers", ctypes.POINTER(Buffer)),
                ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("owner", ctypes.c_void_p)]


PARALLEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64,
                            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64), ctypes.c_void_p)


class Runtime(ctypes.Structure):
    _fields_ = [("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p), ("parallel", PARALLEL), ("threads", ctypes.c_int),
                ("user", ctypes.c_void_p), ("error", ctypes.c_char_p), ("error_size", ctypes.c_size_t)]


KINDS = {"sizes": 0, "permutation": 1, "positions": 2, "coordinates": 3, "bits": 4}
VALUES = {"bool": "b1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "bf16": "bf16", "f16": "f2", "f32": "f4", "f64": "f8",
          "c64": "c8", "c128": "c16"}


class Skipped(Exception):
    """The ABI does not express the case, or the model would take too long."""


def to_bf16(values):
    bits = numpy.asarray(values, "f4").view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def encode(values, kind, width, type_name):
    """A model's list as the array of a kernel."""
    if kind >= 16:
        return to_bf16(values) if type_name == "bf16" else numpy.array(values).astype(VALUES[type_name])
    if width == 2:
        padded = numpy.array(list(values) + [0] * (-len(values) % 4), "u1").reshape(-1, 4)
        return (padded << [0, 2, 4, 6]).sum(1).astype("u1")
    if kind == KINDS["bits"]:
        return numpy.packbits(numpy.array(list(values) + [0] * (-len(values) % 64), "u1"), bitorder="little")
    return numpy.array(values, "i8").astype(f"i{width // 8}")


def decode(buffer, argument):
    """The list that a model has for an array of a result."""
    if buffer.count == 0:
        return []
    kind = VALUES[argument["type"]] if buffer.kind >= 16 else f"u{buffer.width // 8}" if buffer.kind != 3 else f"i{buffer.width // 8}"
    dtype = numpy.dtype("u2" if kind == "bf16" else kind)
    raw = (ctypes.c_char * (buffer.count * dtype.itemsize)).from_address(buffer.data)
    array = numpy.frombuffer(raw, dtype).copy()
    if kind == "bf16":
        array = (array.astype("u4") << 16).view("f4")
    if buffer.kind == KINDS["bits"]:
        array = numpy.unpackbits(array, bitorder="little")
    return array.tolist()


def entries_of(file, order):
    """({coordinates: value}, sizes or None) of an input."""
    name = file.name
    if name.endswith(".npy"):
        array = numpy.load(file)
        return {at: array[at].item() for at in numpy.ndindex(array.shape)}, array.shape
    if name.endswith((".mtx", ".mtx.gz")):
        read = scipy.io.mmread(file)
        if not scipy.sparse.issparse(read):
            read = numpy.asarray(read)
            return {at: read[at].item() for at in numpy.ndindex(read.shape)}, read.shape
        if read.nnz > LARGEST:
            raise Skipped("large")
        return model.combine(zip(read.row.tolist(), read.col.tolist()), read.data.tolist()), read.shape
    if name.endswith(".npz"):
        read = scipy.sparse.load_npz(file).tocoo()
        return model.combine(zip(read.row.tolist(), read.col.tolist()), read.data.tolist()), read.shape
    coordinates, values = data.read_tns(file)
    return model.combine(coordinates.tolist(), values.tolist()), tuple((coordinates.max(0) + 1).tolist())


class Kernel:
    """A program as a shared library, and what it says of itself."""

    def __init__(self, tulle, case, folder, extra=()):
        result = case.output.name.split("-")[0]
        self.path = folder / f"k{case.output.name.split('-')[1].split('.')[0]}.so"
        options = [o for o in case.options if o != "--quick"]
        if "--threads" in options:
            at = options.index("--threads")
            options[at + 1] = "openmp"
        command = [tulle, "compile", case.program, "--name", "kernel", "-o", str(self.path), "--json", "--quiet", *options, *extra]
        if case.result_format and result not in case.inputs:
            command += ["-f", f"{result}={case.result_format}"]
        for name, (file, form) in case.inputs.items():
            command += ["-t", f"{name}={file}"] + (["-f", f"{name}={form}"] if form else [])
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.command = command
        if done.returncode == 1 and any(text in done.stderr for text in REFUSED):
            raise Skipped(done.stderr)
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}\n{done.stderr[-1500:]}")
        self.information = json.loads(done.stdout)
        self.library = ctypes.CDLL(str(self.path))

    def __call__(self, tensors, runtime):
        return self.library.kernel(*[ctypes.byref(t) for t in tensors], ctypes.byref(runtime))


REFUSED = ["does not convert", "does not compute; use a format", "decomposes", "is a slice", "is a set without values", "coordinates of 2 bits"]


def format_of(argument, dims):
    if " shl " in argument["format"]:
        raise Skipped("the model reads no Morton curve that is written out")
    return encoding.parse(argument["format"].removeprefix("#tulle.encoding<{").removesuffix("}>").strip(), len(dims))


def tensor_of(argument, entries, dims, keep):
    """A tensor of a kernel; what must live as long is appended to `keep`."""
    form = format_of(argument, dims)
    if not dims:
        lists = [[entries.get((), 0)]]
    else:
        dense = {at: value for at, value in entries.items() if value != form.fill} if not form.is_dense else entries
        stored = entries if argument.get("explicit") else dense
        try:
            lists = [field.data for field in model.store(dims, stored, form, 1 << 16).fields]
        except model.TooLarge:
            raise Skipped("large")
    buffers = (Buffer * max(len(lists), 1))()
    for k, (values, said) in enumerate(zip(lists, argument["buffers"])):
        array = encode(values, said["kind"], said["width"], argument["type"])
        keep.append(array)
        count = len(values) if said["kind"] != 4 else array.size
        buffers[k] = Buffer(array.ctypes.data, count, said["width"], said["kind"])
    sizes = (ctypes.c_int64 * max(len(dims), 1))(*dims)
    keep += [buffers, sizes]
    return Tensor(1, len(dims), argument["levels"], len(lists), sizes, buffers)


def dense_of(argument, tensor, sizes):
    dims = tuple(tensor.dims[d] for d in range(tensor.order)) if tensor.order else ()
    lists = [decode(tensor.buffers[k], argument) for k in range(tensor.nbuffers)]
    if not dims:
        return numpy.array(lists[-1][0])
    form = format_of(argument, dims)
    fields = [model.Field({v: k for k, v in KINDS.items()}.get(said["kind"], "values"),
                          int(said["what"].rsplit(" ", 1)[-1]) if said["kind"] < 16 else 0, values)
              for said, values in zip(argument["buffers"], lists)]
    out = numpy.full(dims, 0, numpy.array(lists[-1]).dtype if lists[-1] else "f8")
    for at, value in walk.entries(model.Storage(dims, form, fields)):
        out[at] = value
    return out


def answer(case, tulle, folder):
    """The result of a case as a dense array. Throws Skipped."""
    for _, (file, _) in case.inputs.items():
        if file.stat().st_size > 1 << 20:
            raise Skipped("large")
    kernel = Kernel(tulle, case, folder)
    result = case.output.name.split("-")[0]
    keep, tensors, found = [], [], None
    for argument in kernel.information["arguments"]:
        if argument["input"]:
            file = case.inputs[argument["name"]][0]
            entries, dims = entries_of(file, len(argument["sizes"]))
            while len(dims) > len(argument["sizes"]):  # an n x 1 matrix is a vector
                dims = dims[:-1]
                entries = {at[:-1]: value for at, value in entries.items()}
            tensors.append(tensor_of(argument, entries, dims, keep))
        else:
            sizes = (ctypes.c_int64 * max(case.want.ndim, 1))(*case.want.shape)
            keep.append(sizes)
            known = argument["name"] == result and case.want.ndim == len(argument["sizes"])
            tensors.append(Tensor(1, case.want.ndim, 0, 0, sizes) if known else Tensor())
        if argument["name"] == result:
            found = (argument, tensors[-1])
    error = ctypes.create_string_buffer(500)
    runtime = Runtime(error=ctypes.cast(error, ctypes.c_char_p), error_size=500)
    inputs = [ctypes.byref(t) for t, a in zip(tensors, kernel.information["arguments"]) if a["input"]]
    code = kernel.library.kernel_check(*inputs, error, ctypes.c_size_t(500)) or kernel(tensors, runtime)
    if code:
        raise RuntimeError(f"code {code}: {error.value.decode()}")
    dense = dense_of(found[0], found[1], case.want.shape)
    for tensor in tensors:
        if tensor.release:
            tensor.release(tensor.owner)
    return dense
