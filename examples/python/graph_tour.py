# %% [markdown]
# # Graphs as matrices
#
# An edge from `i` to `j` is an entry `A(i,j)`. What a step of a graph algorithm does for all edges is a statement, and the steps are the rounds
# of a `repeat`. The algorithms are those of `graphs.py`, whose texts this page shows at work on the citations of Cora.

# %%
import pathlib
import sys

import numpy as np
import tulle as tl

try:
    here = pathlib.Path(__file__).resolve().parent
except NameError:  # in Jupyter, which runs in the notebook's folder
    here = pathlib.Path.cwd()
sys.path.insert(0, str(here))
import graphs

A = tl.load(here.parents[1] / "examples/data/cora.mtx.gz", format="CSR")
A

# %% [markdown]
# Citations in both directions, each with weight 1, without loops.

# %%
both = graphs.edges(tl.einsum("S(i,j) = A(i,j) + A(j,i) where (i != j)", A=graphs.edges(A), format="CSR"))
assert (both.todense() == both.todense().T).all()

# %% [markdown]
# ## One round of a breadth-first search
#
# The frontier `f` is a sparse vector, so that a round looks at the edges that leave it, and at no others. `where` asks what is stored.

# %%
n = both.shape[0]
f = tl.from_coo((n,), ([0],), np.array([True]), format=graphs.VECTOR)
reached = tl.einsum("g(j) = true where A(i,j) & f(i)", A=both, f=f, format=graphs.VECTOR)
assert reached.nnz == both[0].nnz

# %% [markdown]
# All rounds are one program, compiled once: no round comes back to Python.

# %%
d = graphs.distances(both, 0)
print(f"{int((d >= 0).sum())} of {n} vertices are reached, the farthest over {d.max()} edges")
assert (graphs.shortest_paths(both, 0)[d >= 0] == d[d >= 0]).all()  # all edges are of length 1

# %% [markdown]
# ## Ranks, components, triangles
#
# A product with a mask is computed where the mask stores something: triangles need no matrix of all paths of two edges.

# %%
x = graphs.pagerank(both)
assert np.isclose(x.sum(), 1)
print("most visited:", np.argsort(-x)[:5])

# %%
c = graphs.components(both)
assert (c[d >= 0] == c[0]).all()
print(len(np.unique(c)), "components,", graphs.triangles(both), "triangles")

# %% [markdown]
# A truss is what is left when edges with few triangles are taken away, until none is.

# %%
for k in (3, 4, 5):
    print(f"{k}-truss: {graphs.truss(both, k).nnz} edges")
