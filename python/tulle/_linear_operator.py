"""A tensor as an operator of scipy.sparse.linalg."""

import numpy as np

from ._errors import TulleError
from ._program import einsum
from ._tensor import asarray


def LinearOperator(A, *, threads: int = 0):
    """A matrix as scipy.sparse.linalg.LinearOperator, for SciPy's solvers: cg, gmres, eigsh, svds, …

    Parameters
    ----------
    A : tensor or array with two dimensions
    threads : int
        At most; 0: as many as `compile` takes.

    Examples
    --------
    >>> x, info = scipy.sparse.linalg.cg(tl.LinearOperator(A), b)
    """
    from scipy.sparse.linalg import LinearOperator as Base

    A = asarray(A)
    if A.ndim != 2:
        raise TulleError(f"LinearOperator: expected a matrix, got {A.ndim} dimensions")
    # conj(A)ᵀ is Aᵀ of real numbers.
    read = "conj(A(i,j))" if A.dtype.kind == "c" else "A(i,j)"

    def product(program):
        return lambda x: einsum(program, A=A, x=np.ascontiguousarray(x), threads=threads)

    forward, backward = product("y(i) = A(i,j) * x(j)"), product(f"y(j) = {read} * x(i)")
    return Base(
        A.shape,
        matvec=lambda x: forward(x.reshape(-1)),
        rmatvec=lambda x: backward(x.reshape(-1)),
        matmat=product("y(i,k) = A(i,j) * x(j,k)"),
        rmatmat=product(f"y(j,k) = {read} * x(i,k)"),
        dtype=A.dtype,
    )
