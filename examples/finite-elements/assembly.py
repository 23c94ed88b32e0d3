#!/usr/bin/python3
"""The stiffness matrix and the load of a mesh of triangles."""
import pathlib
import sys

import numpy
import scipy.sparse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, program, run

side = 20
rng = numpy.random.default_rng(1)
first = (numpy.arange(side)[:, None] * (side + 1) + numpy.arange(side)).ravel()
d = numpy.concatenate([first[:, None] + [0, 1, side + 1], first[:, None] + [1, side + 2, side + 1]]).astype("i4")
y, x = numpy.divmod(numpy.arange((side + 1) ** 2), side + 1)
places = numpy.stack([x, y], 1) + rng.uniform(-0.2, 0.2, ((side + 1) ** 2, 2))

# Linear elements: the gradients of the three functions that are 1 at one corner.
corners = places[d]
edges = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]
area = abs(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]) / 2
E = numpy.einsum("eai,ebi->eab", edges, edges) / (4 * area)[:, None, None]
g = numpy.repeat(area[:, None] / 3, 3, 1)

n = len(places)
want = scipy.sparse.coo_matrix((E.ravel(), (d.repeat(3, 1).ravel(), numpy.tile(d, 3).ravel())), (n, n)).tocsr()
tensors = {"d": d, "E": E, "g": g}
made = run(program("assembly.tulle"), tensors, {"K": "npz", "f": "npy"}, {"K": "CSR"}, dims={"K": (n, n), "f": (n,)})
compare("matrix", made["K"], want, "SciPy")
compare("load", made["f"], numpy.bincount(d.ravel(), g.ravel(), n))

# Once more, in place: into a matrix whose pattern is known.
again = run(program("assembly.tulle"), {**tensors, "M": want}, {"K": "npz", "f": "npy"}, {"K": "like M"}, dims={"f": (n,)})
compare("matrix of a given pattern", again["K"], want, "SciPy")

# Boundary terms onto the matrix that is there: entries of two corners of each edge.
edge = numpy.stack([numpy.arange(side), numpy.arange(1, side + 1)], 1).astype("i4")
R = numpy.tile(numpy.array([[2.0, 1.0], [1.0, 2.0]]) / 6, (side, 1, 1))
onto = run("K(d(e,a), d(e,b)) += R(e,a,b)", {"K": made["K"], "d": edge, "R": R}, {"K": "npz"}, {"K": "CSR"})
more = scipy.sparse.coo_matrix((R.ravel(), (edge.repeat(2, 1).ravel(), numpy.tile(edge, 2).ravel())), (n, n))
compare("boundary terms onto it", onto["K"], want + more, "SciPy")
