"""What Tulle asks of PyTorch, on NumPy's arrays: the tests of the bridge run without PyTorch's gigabytes, and with
PyTorch where it is installed."""

import types

import numpy as np

strided, int16, bfloat16 = "torch.strided", "torch.int16", "torch.bfloat16"
_TYPES = {np.dtype(np.float64): "torch.float64", np.dtype(np.float32): "torch.float32", np.dtype(np.int16): int16,
          np.dtype(np.int32): "torch.int32", np.dtype(np.int64): "torch.int64", np.dtype(np.bool_): "torch.bool"}


class Tensor:
    def __init__(self, shape, layout="strided", dtype=None, device="cpu", requires_grad=False, coalesced=False, **parts):
        self.shape, self.layout, self._parts = tuple(shape), f"torch.{layout}", parts
        memory = parts.get("memory")
        self.dtype = dtype or (_TYPES[memory.dtype] if memory is not None else parts["values"].dtype)
        self.device, self.requires_grad, self._coalesced = types.SimpleNamespace(type=device), requires_grad, coalesced

    def __getattr__(self, name):
        parts = self.__dict__["_parts"]
        if name.lstrip("_") in parts and name != "memory":
            return lambda: parts[name.lstrip("_")]
        raise AttributeError(name)

    def dim(self):
        return len(self.shape)

    def sparse_dim(self):
        return self._parts["indices"].shape[0]

    def is_coalesced(self):
        return self._coalesced

    def clone(self):
        parts = {name: part.copy() if name == "memory" else part.clone() for name, part in self._parts.items()}
        return Tensor(self.shape, self.layout.removeprefix("torch."), self.dtype, coalesced=self._coalesced, **parts)

    def view(self, dtype):
        return Tensor(self.shape, dtype=dtype, memory=self._parts["memory"])

    def numpy(self):
        if self.dtype == bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._parts["memory"]

    def data_ptr(self):
        return self._parts["memory"].ctypes.data

    def coalesce(self):
        indices, values = self._parts["indices"].numpy(), self._parts["values"].numpy()
        places, where = np.unique(indices, axis=1, return_inverse=True)
        sums = np.zeros((places.shape[1], *values.shape[1:]), values.dtype)
        np.add.at(sums, where.reshape(-1), values)
        return sparse_coo_tensor(from_numpy(places), from_numpy(sums), size=self.shape, is_coalesced=True)


def from_numpy(array):
    return Tensor(array.shape, memory=array)


def tensor(values):
    return from_numpy(np.array(values))


def _compressed(layout, positions, coordinates):
    def make(of_positions, of_coordinates, values, size):
        parts = {positions: of_positions, coordinates: of_coordinates, "values": values}
        return Tensor(size, layout, values.dtype, **parts)

    return make


sparse_csr_tensor = _compressed("sparse_csr", "crow_indices", "col_indices")
sparse_csc_tensor = _compressed("sparse_csc", "ccol_indices", "row_indices")
sparse_bsr_tensor = _compressed("sparse_bsr", "crow_indices", "col_indices")
sparse_bsc_tensor = _compressed("sparse_bsc", "ccol_indices", "row_indices")


def sparse_coo_tensor(indices, values, size, is_coalesced=False):
    assert indices.shape[1] == values.shape[0] and indices.shape[0] + len(values.shape) - 1 == len(size)
    return Tensor(size, "sparse_coo", values.dtype, coalesced=is_coalesced, indices=indices, values=values)
