#!/usr/bin/python3
"""Runs the programs of this folder on random graphs, and compares them with SciPy's solvers and csgraph.

usage: check.py [--tool TULLE] [--size N] [--seed N]"""
import argparse
import os
import subprocess
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sparse
import scipy.sparse.csgraph as csgraph
import scipy.sparse.linalg

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Runner:
    """Calls the tool in a folder of its own, where tensors and results are files."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, program, result, tensors, options=()):
        """The value of `result`, and the line that says how many rounds there were."""
        command = [self.tool, "run", open(os.path.join(FOLDER, program + ".tulle")).read(), "-o", f"{result}={self.path('result.npy')}", *options]
        for name, tensor in tensors.items():
            if sparse.issparse(tensor):
                file = self.path(name + ".mtx")
                scipy.io.mmwrite(file, tensor)
            else:
                file = self.path(name + ".npy")
                np.save(file, tensor)
            command += ["-t", f"{name}={file}"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        return np.load(self.path("result.npy")), next(line for line in lines if line.startswith("iterations"))


def graph(size, edges, rng):
    """Directed, with weights in (0, 1], without loops; some vertices have no edge."""
    rows, columns = rng.integers(size, size=(2, edges))
    keep = rows != columns
    matrix = sparse.coo_matrix((1 - rng.random(keep.sum()), (rows[keep], columns[keep])), (size, size)).tocsr()
    matrix.data = np.minimum(matrix.data, 1)
    return matrix


def conjugate_gradients(run, size, rng):
    half = graph(size, 4 * size, rng)
    matrix = (half + half.T + sparse.diags(np.asarray((half + half.T).sum(axis=1)).ravel() + 1)).tocsr()
    b = rng.random(size)
    x, rounds = run("conjugate-gradients", "x", {"A": matrix, "b": b, "x": np.zeros(size)})
    return x, scipy.sparse.linalg.spsolve(matrix.tocsc(), b), rounds


def pagerank(run, size, rng):
    matrix = graph(size, 4 * size, rng)
    x, rounds = run("pagerank", "x", {"A": matrix})
    pattern = (matrix != 0).astype(float)
    degrees = np.asarray(pattern.sum(axis=1)).ravel()
    walk = (pattern.T @ sparse.diags(np.divide(1, degrees, out=np.zeros(size), where=degrees > 0))).toarray()
    walk[:, degrees == 0] = 1 / size
    return x, np.linalg.solve(np.eye(size) - 0.85 * walk, np.full(size, 0.15 / size)), rounds


def breadth_first_search(run, size, rng):
    matrix = graph(size, 2 * size, rng)
    source = sparse.coo_matrix(([1], ([0], [0])), (size, 1), dtype=np.int64)
    formats = ["(i) -> (i : compressed)"] * 3
    options = [word for name, form in zip("fgv", formats) for word in ("-f", f"{name}={form}")]
    d, rounds = run("breadth-first-search", "d", {"A": matrix, "f": source}, options)
    expected = csgraph.shortest_path(matrix, unweighted=True, indices=0)
    return d, np.where(np.isinf(expected), -1, expected), rounds


def shortest_paths(run, size, rng):
    matrix = graph(size, 3 * size, rng)
    start = np.full(size, np.inf)
    start[0] = 0
    d, rounds = run("shortest-paths", "d", {"A": matrix, "d": start})
    return d, csgraph.bellman_ford(matrix, indices=0), rounds


def connected_components(run, size, rng):
    matrix = graph(size, size, rng)
    c, rounds = run("connected-components", "c", {"A": matrix, "c": np.arange(size)})
    _, labels = csgraph.connected_components(matrix, directed=False)
    smallest = np.full(labels.max() + 1, size)
    np.minimum.at(smallest, labels, np.arange(size))
    return c, smallest[labels], rounds


def label_propagation(run, size, rng):
    half = graph(size, 4 * size, rng)
    ring = sparse.coo_matrix((np.ones(size), (np.arange(size), np.roll(np.arange(size), 1))), (size, size))
    matrix = (half + half.T + ring + ring.T).tocsr()
    known = (rng.random(size) < 0.1).astype(float)
    known[0] = 1
    labels = np.eye(3)[rng.integers(3, size=size)]
    f, rounds = run("label-propagation", "F", {"A": matrix, "L": labels, "known": known})
    walk = sparse.diags(1 / np.asarray(matrix.sum(axis=1)).ravel()) @ matrix
    system = sparse.eye(size) - sparse.diags(1 - known) @ walk
    return f, scipy.sparse.linalg.spsolve(system.tocsc(), known[:, None] * labels), rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", default="tulle")
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for example in (conjugate_gradients, pagerank, breadth_first_search, shortest_paths, connected_components, label_propagation):
        with tempfile.TemporaryDirectory() as folder:
            found, expected, rounds = example(Runner(options.tool, folder).run, options.size, np.random.default_rng(options.seed))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
        print(f"{example.__name__.replace('_', '-')}: equal, {rounds}")


if __name__ == "__main__":
    main()
