"""Loops as one writes them by hand for numba."""

import functools

import numpy as np

import peers


@functools.cache
def compiled(name: str, threads: int):
    numba = peers.module("numba")
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    return numba.njit(parallel=threads > 1, fastmath=True)(_LOOPS[name](numba.prange))


def _spmv(prange):
    def spmv(indptr, indices, data, x):
        y = np.empty(len(indptr) - 1)
        for i in prange(len(indptr) - 1):
            total = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                total += data[p] * x[indices[p]]
            y[i] = total
        return y

    return spmv


def _spmm(prange):
    def spmm(indptr, indices, data, X):
        Y = np.zeros((len(indptr) - 1, X.shape[1]))
        for i in prange(len(indptr) - 1):
            for p in range(indptr[i], indptr[i + 1]):
                value, j = data[p], indices[p]
                for k in range(X.shape[1]):
                    Y[i, k] += value * X[j, k]
        return Y

    return spmm


def _sddmm(prange):
    def sddmm(indptr, indices, data, U, V):
        out = np.empty_like(data)
        for i in prange(len(indptr) - 1):
            for p in range(indptr[i], indptr[i + 1]):
                total, j = 0.0, indices[p]
                for k in range(U.shape[1]):
                    total += U[i, k] * V[j, k]
                out[p] = data[p] * total
        return out

    return sddmm


def _mttkrp(prange):
    def mttkrp(starts, j, k, values, B, C, rows):
        out = np.zeros((rows, B.shape[1]))
        for i in prange(rows):
            for p in range(starts[i], starts[i + 1]):
                for r in range(B.shape[1]):
                    out[i, r] += values[p] * B[j[p], r] * C[k[p], r]
        return out

    return mttkrp


def _ttv(prange):
    def ttv(starts, j, k, values, v, rows, columns):
        out = np.zeros((rows, columns))
        for i in prange(rows):
            for p in range(starts[i], starts[i + 1]):
                out[i, j[p]] += values[p] * v[k[p]]
        return out

    return ttv


def _softmax(prange):
    def softmax(indptr, data):
        out = np.empty_like(data)
        for i in prange(len(indptr) - 1):
            first, last = indptr[i], indptr[i + 1]
            largest = -np.inf
            for p in range(first, last):
                largest = max(largest, data[p])
            total = 0.0
            for p in range(first, last):
                out[p] = np.exp(data[p] - largest)
                total += out[p]
            for p in range(first, last):
                out[p] /= total
        return out

    return softmax


def _gather(prange):
    def gather(X, rows):
        out = np.empty((len(rows), X.shape[1]), X.dtype)
        for i in prange(len(rows)):
            for k in range(X.shape[1]):
                out[i, k] = X[rows[i], k]
        return out

    return gather


def _scatter(prange):
    def scatter(Y, rows, count):
        out = np.zeros((count, Y.shape[1]), Y.dtype)
        for i in range(len(rows)):  # rows meet: not in parallel
            for k in range(Y.shape[1]):
                out[rows[i], k] += Y[i, k]
        return out

    return scatter


_LOOPS = {"spmv": _spmv, "spmm": _spmm, "sddmm": _sddmm, "mttkrp": _mttkrp, "ttv": _ttv, "softmax": _softmax,
          "gather": _gather, "scatter": _scatter}
