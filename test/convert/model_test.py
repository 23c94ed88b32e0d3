#!/usr/bin/python3
"""The model of storage against pictures of storage, written from the paper on sparse tensor types in MLIR (blocks, 2:4),
from Chou et al. 2020 (DIA, ELL, CSR, skyline) and from the definitions in lib/format/Layout.h.
"""
import random
import unittest

import encoding
import model
import random_formats
import walk


def entries(picture):
    """{coordinates: value} of a picture with '.' for what is not stored."""
    rows = [line.split() for line in picture.strip().splitlines()]
    found = {(i, j): float(text) for i, row in enumerate(rows) for j, text in enumerate(row) if text != "."}
    return (len(rows), len(rows[0])), found


BLOCKS = """
1 2 . . 4 .
. 3 . . . 5
. . 6 7 . .
. . 8 . . ."""

# The matrix of figure 1 of Chou et al. 2020.
PAPER = """
5 1 . . . .
. 7 3 . . .
8 . . 2 . .
. . 4 . . 9"""


class Pictures(unittest.TestCase):
    def check(self, picture, text, **fields):
        dims, stored = entries(picture)
        got = model.store(dims, stored, encoding.parse(text, 2))
        have = {f"{f.kind[:3]}{f.level}": f.data for f in got.fields}
        have["val"] = have.pop(f"val{len(got.encoding.levels)}")
        self.assertEqual(have, fields)

    def test_blocks(self):
        values = [1, 2, 0, 3, 4, 0, 0, 5, 6, 7, 8, 0]
        self.check(BLOCKS, "BCSR(2,2)", pos1=[0, 2, 3], coo1=[0, 2, 1], val=values)

    def test_two_of_four(self):
        self.check("1 . 2 . . 3 . 4\n. 5 6 . 7 8 . .", "NV24", coo2=[0, 2, 1, 3, 1, 2, 0, 1], val=[1, 2, 3, 4, 5, 6, 7, 8])

    def test_coo(self):
        self.check(PAPER, "COO", pos0=[0, 8], coo0=[0, 0, 0, 1, 1, 1, 1, 2, 2, 0, 2, 3, 3, 2, 3, 5], val=[5, 1, 7, 3, 8, 2, 4, 9])
        self.check(PAPER, "COO-soa", pos0=[0, 8], coo0=[0, 0, 1, 1, 2, 2, 3, 3], coo1=[0, 1, 1, 2, 0, 3, 2, 5],
                   val=[5, 1, 7, 3, 8, 2, 4, 9])

    def test_csr(self):
        self.check(PAPER, "CSR", pos1=[0, 2, 4, 6, 8], coo1=[0, 1, 1, 2, 0, 3, 2, 5], val=[5, 1, 7, 3, 8, 2, 4, 9])

    def test_csc(self):
        self.check(PAPER, "CSC", pos1=[0, 2, 4, 6, 7, 7, 8], coo1=[0, 2, 0, 1, 1, 3, 2, 3], val=[5, 8, 1, 7, 3, 4, 2, 9])

    def test_dia(self):
        # Diagonals -2, -1, 0, 1, 2, each with a slot for every row.
        self.check(PAPER, "DIA", siz0=[5], coo0=[-2, -1, 0, 1, 2],
                   val=[0, 0, 8, 0, 0, 0, 0, 4, 5, 7, 0, 0, 1, 3, 2, 0, 0, 0, 0, 9])

    def test_ell(self):
        self.check(PAPER, "ELL", siz0=[2], coo2=[0, 1, 0, 2, 1, 2, 3, 5], val=[5, 7, 8, 4, 1, 3, 2, 9])
        self.check("1 2 .\n. . .\n. . 3", "ELL", siz0=[2], coo2=[0, -1, 2, 1, -1, -1], val=[1, 0, 3, 2, 0, 0])

    def test_ellr(self):
        self.check("1 2 .\n. . .\n. . 3", "ELLR", siz1=[2], coo1=[0, 1, -1, -1, 2, -1], val=[1, 2, 0, 0, 3, 0])

    def test_jagged_diagonals(self):
        # Rows by length: 1 (three), 0 (two), 3 (one), 2 (none).
        self.check("1 . 2 .\n3 4 . 5\n. . . .\n. . 6 .", "JDS", siz0=[3], per1=[1, 0, 3, 2], pos1=[0, 3, 5, 6],
                   coo2=[0, 0, 2, 1, 2, 3], val=[3, 1, 6, 4, 2, 5])

    def test_sliced(self):
        # Windows of four rows: 1 0 2 3 by length, then row 4 alone; slices of two ranks.
        self.check("1 . .\n2 3 .\n. 4 .\n. . .\n. 5 6", "SELL(2,4)", per0=[1, 0, 2, 3, 4], pos1=[0, 2, 3, 5],
                   coo3=[0, 0, 1, -1, 1, -1, 1, -1, 2, -1], val=[2, 1, 3, 0, 4, 0, 5, 0, 6, 0])

    def test_skyline(self):
        # Row 1 ends at the diagonal, row 2 beyond it, row 3 is empty.
        self.check("1 . . .\n2 . . .\n. . . 3\n. . . .", "skyline", pos1=[0, 1, 3, 4, 4], coo1=[0, 0, 3, 0], val=[1, 2, 0, 3])
        self.check("1 . . .\n2 3 . .\n. . 4 .\n. 5 . 6", "skyline", pos1=[0, 1, 3, 4, 7], coo1=[0, 0, 2, 1],
                   val=[1, 2, 3, 4, 5, 0, 6])

    def test_morton(self):
        # Blocks (0,0) (0,1) (1,0) (1,1) along the curve.
        self.check("1 . . 2\n. . . .\n. 3 4 .\n. . . 5", "HiCOO(1)", pos0=[0, 5],
                   coo0=[0, 0, 0, 1, 0, 1, 2, 0, 1, 3, 0, 0, 3, 1, 1], val=[1, 2, 3, 4, 5])

    def test_hash_tables(self):
        # 0x9E37… / 2^64 = 0.618: coordinate 0 goes to slot 0, 1 to the slot at 0.618, 2 to 0.236, 3 to 0.854 of the table.
        self.check(". . . .\n1 . . .\n. . 2 3", "DOK", pos0=[0, 4], coo0=[2, -1, 1, -1], pos1=[0, 4, 4, 6, 6],
                   coo1=[2, -1, -1, 3, 0, -1], val=[2, 0, 0, 3, 1, 0])

    def test_bits(self):
        self.check("1 . 2\n. 0 .", "bitmap", bit1=[1, 0, 1, 0, 1, 0], val=[1, 0, 2, 0, 0, 0])

    def test_ragged(self):
        self.check("1 . 2 .\n. . . .\n3 . . .", "ragged", pos1=[0, 3, 3, 4], val=[1, 0, 2, 3])

    def test_jagged(self):
        self.check("1 . 2 .\n. . . .\n3 . . .", "jagged", pos1=[0, 3, 3, 3, 3, 4], val=[1, 0, 2, 3])

    def test_batches(self):
        self.check(". 1\n2 3", "(i,j) -> (i : batch, j : compressed)", pos1=[0, 1, 1, 3], coo1=[1, 0, 1], val=[1, 2, 3])
        self.check(". 1\n. .\n2 3", "(i,j) -> (i : dense, j : loose_compressed)", pos1=[0, 1, 1, 1, 1, 3], coo1=[1, 0, 1],
                   val=[1, 2, 3])

    def test_reserve(self):
        self.check(". 1\n. .\n2 3", "(i,j) -> (i : dense, j : loose_compressed[1])", pos1=[0, 1, 2, 2, 3, 5],
                   coo1=[1, -1, -1, 0, 1, -1], val=[1, 0, 0, 2, 3, 0])
        self.check(". 1\n2 3", "(i,j) -> (i : loose_compressed[2](nonunique), j : singleton)", pos0=[0, 3],
                   coo0=[0, 1, 1, 0, 1, 1, -1, -1, -1, -1], val=[1, 2, 3, 0, 0])

    def declared(self, name):
        return f"(i,j) -> (i : dense, j : {name}), levels = {{ level {name} {{ {random_formats.DECLARED[name]} }} }}"

    def test_declared(self):
        # The longest row of two entries rounded up to four slots; windows from an even column on.
        self.check("1 . 2\n. . .\n. . 3", self.declared("ell4"), siz1=[4], coo1=[0, 2] + 6 * [-1] + [2] + 3 * [-1],
                   val=[1, 2, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0])
        self.check(". 1 . . 2\n. . . . .\n. . . 3 .", self.declared("window"), pos1=[0, 5, 5, 7], coo1=[0, 0, 2],
                   val=[0, 1, 0, 0, 2, 0, 3])
        self.check(". . 1 . 2\n. . . . .\n3 . . . .", self.declared("even"), pos1=[0, 3, 3, 4], val=[0, 1, 2, 3])
        for name, built_in in [("rows", "(i,j) -> (i : dense, j : compressed)"), ("shared", "(i,j) -> (i : dense, j : squeezed)")]:
            stored = [model.store(*entries(PAPER), encoding.parse(text, 2)).fields for text in (self.declared(name), built_in)]
            self.assertEqual(*stored)
        for picture, name in [(". 1", "even"), ("1 2 3 4", "three")]:
            with self.assertRaises(model.Refused):
                model.store(*entries(picture), encoding.parse(self.declared(name), 2))

    def test_explicit_values(self):
        ones = "(i,j) -> (i : dense, j : compressed), explicitVal = 1"
        self.check(". 1\n1 1", ones, pos1=[0, 1, 3], coo1=[1, 0, 1], val=[1, 1, 1])
        for picture in [". 1\n1 2", ". 1\n1 0"]:
            with self.assertRaises(model.Refused):
                model.store(*entries(picture), encoding.parse(ones, 2))

    def test_free_slots_hold_zeros(self):
        self.check(". 1 . 2 . . . 3\n. . . . . 4 5 .", "NV24", coo2=[1, 3, 0, 3, 0, 1, 1, 2], val=[1, 2, 0, 3, 0, 0, 4, 5])
        self.check(". 1", "(i,j) -> (#i[2] : dense, i : dense, j : singleton(padded))", siz0=[2], coo2=[1, -1], val=[1, 0])

    def test_refusals(self):
        for picture, text in [("1 2 3 .", "NV24"), ("1 2 3", "(i,j) -> (#i[2] : dense, i : dense, j : singleton(padded))"), ("1 2 3", "(i,j) -> (i : dense, j : fixed[2])"),
                              ("1 " * 300, "(i,j) -> (i : dense, j : compressed), crdWidth = 8")]:
            with self.assertRaises(model.Refused):
                model.store(*entries(picture), encoding.parse(text, 2))

    def test_slots_are_counted_before_they_are_made(self):
        # Padded storage of the picture, counted in it: DIA 4 diagonals of 2 rows, ELL 2 rows of 3, ragged
        # runs of 5 and 3, skyline of 5 and 1, DOK tables of 8 and 2.
        picture = "1 . 2 . 3\n. . 4 . ."
        for text, slots in [("dense", 10), ("DIA", 8), ("ELL", 6), ("ragged", 8), ("skyline", 6), ("CSR", 4), ("DOK", 10), ("bitmap", 10)]:
            form = encoding.parse(text, 2)
            model.store(*entries(picture), form, slots)
            with self.assertRaises(model.TooLarge, msg=text):
                model.store(*entries(picture), form, slots - 1)
        dims, stored = (10**9, 10**9), {(5, 7): 1.0, (10**9 - 1, 3): 2.0}
        with self.assertRaises(model.TooLarge):
            model.store(dims, stored, encoding.parse("ELL", 2), 1000)


class RoundTrips(unittest.TestCase):
    def test_walk_undoes_store(self):
        rng = random.Random(1)
        for text in ["dense", "COO", "COO-soa", "CSC", "DCSC", "BCSR(2,3)", "BCSC(3,2)", "DIA", "ELL", "ELLR", "JDS", "SELL(2,4)",
                     "skyline", "BCOO", "CSF(1,0)", "HiCOO(1)", "DOK", "bitmap", "ragged", "jagged"]:
            for m, n in [(5, 7), (7, 5), (1, 6), (4, 4), (0, 3)]:
                want = {(i, j): float(rng.randint(1, 9)) for i in range(m) for j in range(n) if rng.random() < 0.3}
                stored = list(walk.entries(model.store((m, n), want, encoding.parse(text, 2))))
                self.assertEqual(len(stored), len(dict(stored)), text)
                self.assertEqual({at: v for at, v in stored if v}, want, text)


if __name__ == "__main__":
    unittest.main()
