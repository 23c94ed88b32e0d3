"""The examples for Python give the answers of SciPy and of plain loops."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
sys.path.insert(0, str(EXAMPLES))
graphs = __import__("graphs")
sys.path.remove(str(EXAMPLES))


@pytest.fixture(params=[0.01, 0.03])
def graph(request):
    """A symmetric one without loops, of integral lengths."""
    made = sp.random_array((120, 120), density=request.param, format="csr", rng=np.random.default_rng(3))
    made.data = np.ceil(made.data * 9)
    both = (made + made.T).tolil()
    both.setdiag(0)
    both = both.tocsr()
    both.eliminate_zeros()
    return both


def test_paths(graph):
    away = csgraph.shortest_path(graph, unweighted=True, indices=0)
    np.testing.assert_array_equal(graphs.distances(graph, 0), np.where(np.isinf(away), -1, away))
    np.testing.assert_array_equal(graphs.shortest_paths(graph, 0), csgraph.dijkstra(graph, indices=0))


def test_components(graph):
    count, labels = csgraph.connected_components(graph, directed=False)
    smallest = np.full(count, 120)
    np.minimum.at(smallest, labels, np.arange(120))
    np.testing.assert_array_equal(graphs.components(graph), smallest[labels])


def test_pagerank(graph):
    links = (graph != 0).toarray()
    degrees = links.sum(axis=1)
    walk = np.where(degrees > 0, links.T / np.maximum(degrees, 1), 1 / 120)
    expected = np.linalg.solve(np.identity(120) - 0.85 * walk, np.full(120, 0.15 / 120))
    np.testing.assert_allclose(graphs.pagerank(graph), expected, atol=1e-9)


def _truss(links: np.ndarray, k: int) -> np.ndarray:
    while True:
        kept = links * (links @ links * links >= max(1, k - 2))
        if (kept == links).all():
            return links
        links = kept


def test_triangles_and_trusses(graph):
    links = (graph != 0).toarray().astype(int)
    assert graphs.triangles(graph) == np.trace(links @ links @ links) // 6
    for k in (3, 4, 5):
        np.testing.assert_array_equal(graphs.truss(graph, k).todense(), _truss(links, k))


@pytest.mark.parametrize("notebook", ["first_steps", "graph_tour"])
def test_notebooks_run_cell_by_cell(notebook):
    lines = (EXAMPLES / f"{notebook}.py").read_text().splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%")] + [len(lines)]
    assert starts[0] == 0 and len(starts) > 8
    names = {"__file__": str(EXAMPLES / f"{notebook}.py")}
    for start, end in zip(starts, starts[1:]):
        cell = lines[start + 1:end]
        if lines[start] == "# %% [markdown]":
            assert all(line.startswith("#") for line in cell if line), f"{notebook}: line {start + 1}"
        else:
            assert lines[start] == "# %%" and any(cell)
            exec(compile("\n".join([""] * (start + 1) + cell), f"{notebook}.py", "exec"), names)


def test_the_script_runs():
    done = subprocess.run([sys.executable, EXAMPLES / "graphs.py"], capture_output=True, text=True, check=True)
    assert "components: 78\ntriangles: 1630\n" in done.stdout  # as published for Cora
