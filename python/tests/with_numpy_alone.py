"""What works where only NumPy is installed."""

import sys

import numpy as np
import tulle as tl

A = tl.from_coo((3, 3), ([0, 1, 2], [1, 2, 0]), np.array([1.0, 2.0, 3.0]), format="CSR")
y = tl.einsum("y(i) = A(i,j) * x(j)", A=A, x=np.array([1.0, 10.0, 100.0]))
assert y.tolist() == [10, 200, 3], y
C = tl.einsum("ik,kj->ij", A, A, format="CSR")
assert np.array_equal(C.todense(), A.todense() @ A.todense())
assert np.array_equal((2 * A + A.T).todense(), 2 * A.todense() + A.todense().T) and float(tl.sum(A)) == 6
assert "scipy" not in sys.modules and "site-packages" in tl.__file__
print("with NumPy alone: passed")
