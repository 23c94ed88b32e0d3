"""The other packages: each is imported where a work first asks for it, and absent where it is not installed."""

import functools
import importlib


_MODULES = {"scipy": "scipy.sparse", "mkl": "sparse_dot_mkl", "graphblas": "graphblas", "numba": "numba",
            "sparse": "sparse", "jax": "jax", "numpy": "numpy"}


@functools.cache
def module(name: str):
    return importlib.import_module(_MODULES[name])


@functools.cache
def available(name: str) -> bool:
    try:
        module(name)
    except Exception:  # a package that does not load is absent, whatever it raises
        return False
    return True
