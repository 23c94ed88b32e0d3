"""What several tests use."""

import numpy as np
import pytest
import scipy.sparse as sp


@pytest.fixture
def rng():
    return np.random.default_rng(20261127)


@pytest.fixture
def matrix(rng):
    """A function of sizes and density that makes SciPy's CSR."""

    def make(rows=60, columns=45, density=0.1, dtype=np.float64):
        made = sp.random_array((rows, columns), density=density, format="csr", rng=rng)
        return (made * 100).astype(dtype)

    return make
