"""Graph algorithms on sparse adjacency matrices, each one program: A(i,j) is an edge from i to j.

usage: graphs.py [GRAPH.mtx]   (in the root of a checkout; default: the citations of Cora)
"""

import pathlib
import sys

import numpy as np
import tulle as tl

VECTOR = "(i) -> (i : compressed)"


def edges(graph, dtype="f64") -> tl.Tensor:
    """The pattern of a graph: 1 for each of its edges, in rows."""
    A = tl.asarray(graph, format="CSR")
    return tl.einsum("E(i,j) = 1 where A", A=A, types={"E": ("CSR", dtype)})


def distances(graph, source: int) -> np.ndarray:
    """How many edges lie between the source and each vertex; -1 where no path leads (breadth-first search).

    A round visits the edges that leave what the round before has reached.
    """
    start = tl.from_coo((tl.asarray(graph).shape[0],), ([source],), np.ones(1, np.int64), format=VECTOR)
    return tl.run("""
        d(i) = -1
        d(i) += 1 where f(i)
        l = 0
        repeat 1000000 {
          l = l + 1
          f(j) = true where A(i,j) & f(i) & (d(j) < 0)
          d(j) += l + 1 where f(j)
          reached = i64(1) where f(j)
        } until reached == 0""", A=graph, f=start, formats={"f": VECTOR}, results=["d"]).d


def shortest_paths(graph, source: int) -> np.ndarray:
    """The length of the shortest path to each vertex, over edges of length A(i,j) >= 0; inf where there is none."""
    d = np.full(tl.asarray(graph).shape[0], np.inf)
    d[source] = 0
    return tl.run("""
        f(j) = d(j) where (d(j) < inf)
        repeat 1000000 {
          g(j) min= f(i) + A(i,j) where A(i,j) & f(i)
          f(j) = g(j) where g(j) & (g(j) < d(j))
          d(j) min= f(j) where f(j)
          nearer = i64(1) where f(j)
        } until nearer == 0""", A=graph, d=d, formats={"f": VECTOR, "g": VECTOR}, results=["d"]).d


def pagerank(graph, jump: float = 0.15, accuracy: float = 1e-10) -> np.ndarray:
    """The share of time that a walk spends at each vertex, which follows an edge, or jumps with this probability."""
    return tl.run("""
        d(j) = 1.0 where A(j,i)
        e(i) = 1.0
        n = e(i)
        x(i) = e(i) / n
        repeat 1000 {
          y(j) = select(d(j) > 0, x(j) / d(j), 0.0)
          l = select(d(j) > 0, 0.0, x(j))
          z(i) = y(j) where A(j,i)
          w(i) = (1 - jump) * (z(i) + l / n) + jump / n
          change = abs(w(i) - x(i))
          x(i) = w(i)
        } until change < accuracy""", A=graph, jump=jump, accuracy=accuracy, results=["x"]).x


def components(graph) -> np.ndarray:
    """The smallest number of a vertex that some path joins with each, whichever way its edges point.

    An edge between two trees of pointers hooks the larger root to the smaller (Shiloach and Vishkin, 1982): first the
    edges that leave each vertex, then, both ways, those of the vertices that have an edge to another tree.
    """
    return tl.run("""
        m(i) min= c(j) where A(i,j)
        c(i) = min(c(i), m(i))
        repeat 64 {
          g(i) = c(c(i))
          c(i) = g(g(i))
          moved = i64(c(i) != g(i))
        } until moved == 0
        repeat 1000000 {
          q(i) = c(i)
          leaves(i) max= i32(q(j) != q(i)) where A(i,j)
          f(i) = q(i) where (leaves(i) > 0)
          m(i) min= q(j) where A(i,j) & f(i)
          w(j) min= f(i) where A(i,j) & f(i)
          c(q(i)) min= m(i) where f(i)
          c(q(j)) min= w(j) where (w(j) < q(j))
          repeat 64 {
            g(i) = c(c(i))
            c(i) = g(g(i))
            moved = i64(c(i) != g(i))
          } until moved == 0
          changed = i64(1) where f(i)
        } until changed == 0""", A=graph, c=np.arange(tl.asarray(graph).shape[0]), formats={"f": VECTOR},
        results=["c"]).c


def triangles(graph) -> int:
    """How many triples of vertices are all neighbours of each other, in a symmetric graph."""
    return int(tl.run("""
        L(i,j) = A(i,j) where (i > j)
        C(i,j) = L(i,k) * L(j,k) where L
        t = C(i,j)""", A=edges(graph, "i64"), formats={"L": "CSR", "C": "CSR"}).t)


def truss(graph, k: int) -> tl.Tensor:
    """The largest part of a symmetric graph in which each edge is in k - 2 triangles or more."""
    return tl.run("""
        repeat 1000000 {
          s(i,j) = A(i,k) * A(k,j) where A
          before = A(i,j)
          A(i,j) = 1 where s & (s(i,j) >= least)
          after = A(i,j)
        } until after == before""", A=edges(graph, "i64"), least=np.int64(max(1, k - 2)),
        formats={"s": "CSR"}, results=["A"]).A


def main() -> None:
    root = pathlib.Path(__file__).resolve().parents[2]
    A = tl.load(sys.argv[1] if len(sys.argv) > 1 else root / "examples/data/cora.mtx.gz", format="CSR")
    both = edges(tl.einsum("S(i,j) = A(i,j) + A(j,i) where (i != j)", A=edges(A), format="CSR"))
    reached = distances(both, 0)
    print(f"{A.shape[0]} vertices, {both.nnz} edges")
    print(f"breadth-first search: {int((reached >= 0).sum())} reached, {reached.max()} edges away at most")
    print(f"shortest paths: {shortest_paths(both, 0)[reached >= 0].max():.0f} at most")
    print(f"PageRank: vertex {int(pagerank(both).argmax())} has the highest")
    print(f"components: {len(np.unique(components(both)))}")
    print(f"triangles: {triangles(both)}")
    print(f"4-truss: {truss(both, 4).nnz} edges")


if __name__ == "__main__":
    main()
