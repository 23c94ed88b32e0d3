"""Random tulle.coiterate programs with the answers that plain Python sets give.

sets.py kernels|main|expected SEED COUNT

Every program visits a random set expression over 1 to 4 operands of random formats, with a random strategy. It writes
1000 * minterm + the sum of the operands' values where it visits a coordinate, and keeps a hash of (coordinate, minterm) in
visiting order, so that a coordinate visited twice, out of order, or in the wrong case shows.
"""
import random
import sys

N = 41  # size of the coordinates: several vectors of them, and rows that start within a byte
MASK = (1 << 64) - 1

FORMATS = {
    "sv": "(j) -> (j : compressed)",
    "nonunique": "(j) -> (j : compressed(nonunique))",
    "loose": "(j) -> (j : loose_compressed)",
    "dense": "(j) -> (j : dense)",
    "csr": "(i, j) -> (i : dense, j : compressed)",
    "dcsr": "(i, j) -> (i : compressed, j : compressed)",
    "coo": "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "coosoa": "(i, j) -> (i : compressed(nonunique), j : singleton(soa))",
    "batch": "(b, i, j) -> (b : batch, i : dense, j : compressed)",
    "bits": "(j) -> (j : bitmap)",
    "bitrows": "(i, j) -> (i : dense, j : bitmap)",
    "bcoo": "(b, i, j) -> (b : batch, i : compressed(nonunique), j : singleton)",
}


class Operand:
    """Row 1 of the tensor (of batch 1) is the operand; the other rows hold noise that must not be seen."""

    def __init__(self, rng, name):
        self.kind = rng.choice(list(FORMATS))
        self.name = name
        self.pos, self.crd = rng.choice([8, 16, 32, 64]), rng.choice([8, 16, 32, 64])
        density = rng.choice([0.0, 0.2, 0.5, 0.9])
        row = lambda: [(c, rng.randint(1, 99)) for c in range(N) if rng.random() < density]
        own = row()
        if self.kind == "dense":
            own = [(c, rng.randint(1, 99)) for c in range(N)]
        if self.kind == "nonunique":
            own = sorted(own + [(c, rng.randint(1, 99)) for c, _ in own if rng.random() < 0.5], key=lambda e: e[0])
        self.values = {}
        for c, v in own:
            self.values[c] = self.values.get(c, 0) + v
        getattr(self, "store_" + {"nonunique": "sv"}.get(self.kind, self.kind))(own, row)

    def set(self, fields, values, dims):
        self.fields = fields  # (width, list)
        self.stored = values
        self.dims = dims

    def store_sv(self, own, row):
        self.set([(self.pos, [0, len(own)]), (self.crd, [c for c, _ in own])], [v for _, v in own], [N])

    def store_loose(self, own, row):
        junk = row()
        all = junk + own
        self.set([(self.pos, [len(junk), len(all)]), (self.crd, [c for c, _ in all])], [v for _, v in all], [N])

    def store_dense(self, own, row):
        self.set([], [v for _, v in own], [N])

    def store_csr(self, own, row):
        rows = [row(), own, row()]
        pos = [0]
        for r in rows:
            pos.append(pos[-1] + len(r))
        self.set([(self.pos, pos), (self.crd, [c for r in rows for c, _ in r])], [v for r in rows for _, v in r], [3, N])

    def store_dcsr(self, own, row):
        rows = [(i, r) for i, r in [(0, row()), (1, own), (2, row())] if r]
        pos = [0]
        for _, r in rows:
            pos.append(pos[-1] + len(r))
        self.set([(self.pos, [0, len(rows)]), (self.crd, [i for i, _ in rows]), (self.pos, pos),
                  (self.crd, [c for _, r in rows for c, _ in r])], [v for _, r in rows for _, v in r], [3, N])

    def entries(self, own, row):
        return [(i, c, v) for i, r in [(0, row()), (1, own), (2, row())] for c, v in r]

    def store_coo(self, own, row):
        e = self.entries(own, row)
        self.set([(self.pos, [0, len(e)]), (self.crd, [x for i, c, _ in e for x in (i, c)])], [v for *_, v in e], [3, N])

    def store_coosoa(self, own, row):
        e = self.entries(own, row)
        self.set([(self.pos, [0, len(e)]), (self.crd, [i for i, _, _ in e]), (self.crd, [c for _, c, _ in e])],
                 [v for *_, v in e], [3, N])

    def store_batch(self, own, row):
        rows = [row(), row(), row(), own, row(), row()]  # 3 batches of 2 rows; batch 1, row 1 is ours
        pos, at = [], 0
        for k, r in enumerate(rows):
            if k % 2 == 0:
                pos.append(at)
            at += len(r)
            pos.append(at)
        self.set([(self.pos, pos), (self.crd, [c for r in rows for c, _ in r])], [v for r in rows for _, v in r],
                 [3, 2, N])

    def store_bcoo(self, own, row):
        batches = [self.entries(row(), row), self.entries(own, row)]
        pos, at = [], 0
        for e in batches:
            pos += [at, at + len(e)]
            at += len(e)
        e = batches[0] + batches[1]
        self.set([(self.pos, pos), (self.crd, [x for i, c, _ in e for x in (i, c)])], [v for *_, v in e], [2, 3, N])

    def bitmap(self, rows):
        bits = sum(1 << (i * N + c) for i, r in enumerate(rows) for c, _ in r)
        size = (len(rows) * N + 63) // 64 * 8
        values = [77] * (len(rows) * N)
        for i, r in enumerate(rows):
            for c, v in r:
                values[i * N + c] = v
        self.set([(8, list(bits.to_bytes(size, "little")))], values, [len(rows), N] if len(rows) > 1 else [N])

    def store_bits(self, own, row):
        self.bitmap([own])

    def store_bitrows(self, own, row):
        self.bitmap([row(), own, row()])

    # IR

    def encoding(self):
        return f"#tulle.encoding<{{ map = {FORMATS[self.kind]}, posWidth = {self.pos}, crdWidth = {self.crd} }}>"

    def tensor(self):
        return f"tensor<{'x'.join('?' for _ in self.dims)}xf64, {self.encoding()}>"

    def levels(self):
        return len(self.dims)

    def iterator(self, level):
        return f"!tulle.iterator<{self.encoding()}, {level}>"

    def space(self):
        return f"!tulle.space<{self.encoding()}, {self.levels() - 1}>"

    def descend(self):
        """Code that gives %s_NAME; an operand whose row is not stored has no space, which its caller must know."""
        text, parent, n = "", "", self.name
        kinds = FORMATS[self.kind].split("->")[1]
        for level in range(self.levels() - 1):
            full = kinds.strip(" ()").split(",")[level].split(":")[1].strip().startswith(("dense", "batch"))
            op, results = ("locate", f"%p{level}_{n}") if full else ("search", f"%p{level}_{n}, %f{level}_{n}")
            text += f"    {results} = tulle.{op} %{n} level({level}) {parent} at %c1 : {self.tensor()} -> {self.iterator(level)}\n"
            parent = f"under %p{level}_{n} : {self.iterator(level)}"
        return text + f"    %s_{n} = tulle.space %{n} level({self.levels() - 1}) {parent} : {self.tensor()} -> {self.space()}\n"

    def buffers(self):
        """(type, values) of each buffer; a buffer has at least one element, which nobody may read."""
        signed = lambda x, w: x - (1 << w) if x >> (w - 1) else x
        result = [(f"i{w}", [signed(x, w) for x in v] or [77]) for w, v in self.fields]
        return result + [("f64", [f"{v}.0" for v in self.stored] or ["77.0"])]


class Program:
    def __init__(self, rng, index):
        self.index = index
        self.operands = []
        count = rng.randint(1, 4)
        while len(self.operands) < count:
            operand = Operand(rng, "abcd"[len(self.operands)])
            # A row that is searched must be there: kernels guard with scf.if, which search.mlir tests.
            if operand.kind in ("dcsr", "coo", "coosoa", "bcoo") and not operand.values:
                continue
            self.operands.append(operand)
        minterms = list(range(1 << count))
        shape = rng.choice(["and", "or", "one", "random", "random"])
        if shape == "and":
            self.cases = [minterms[-1]]
        elif shape == "or":
            self.cases = minterms[1:]
        elif shape == "one":
            self.cases = [rng.choice(minterms)]
        else:
            self.cases = sorted(rng.sample(minterms, rng.randint(1, len(minterms))))
        rng.shuffle(self.cases)
        self.strategy = rng.choice(["auto", "auto", "merge", "gallop", "merge_or_gallop", "blocks"])
        self.lo, self.hi = rng.choice([(0, N), (0, N), (3, 9), (0, 7), (5, N), (4, 4)])
        self.dynamic = rng.random() < 0.5
        self.flags = index % 4 == 3 # one body with presence flags instead of the cases

    def set(self):
        term = lambda m: " & ".join(("" if m >> k & 1 else "~") + o.name for k, o in enumerate(self.operands))
        return " | ".join(term(m) for m in sorted(self.cases))

    def kernel(self):
        args = "".join(f"%{o.name}: {o.tensor()}, " for o in self.operands)
        y = "#tulle.encoding<{ map = (i) -> (i : dense) }>"
        text = f"  func.func @k{self.index}({args}%y: tensor<{N}xf64>, %h: tensor<i64>, %lo: index, %hi: index) -> (tensor<{N}xf64>, tensor<i64>) {{\n"
        text += "    %c1 = arith.constant 1 : index\n    %m31 = arith.constant 31 : i64\n    %minus = arith.constant -1.0 : f64\n"
        text += f"    %none = tulle.fill %minus, %y : f64, tensor<{N}xf64>\n    %start = arith.constant 7 : i64\n"
        for o in self.operands:
            text += o.descend()
        names = ", ".join(f"%s_{o.name}" for o in self.operands)
        types = ", ".join(o.space() for o in self.operands)
        range_text = ""
        if 0 in self.cases:
            if self.dynamic:
                text += "    %range = tulle.range %lo to %hi\n"
            else:
                text += f"    %clo = arith.constant {self.lo} : index\n    %chi = arith.constant {self.hi} : index\n    %range = tulle.range %clo to %chi\n"
            range_text = "range %range"
        text += f"    %r:2 = tulle.coiterate %i in \"{self.set()}\" ({names} : {types}) {range_text} iter_args(%t = %none, %g = %start) -> (tensor<{N}xf64>, i64) loop = <reduction> strategy = {self.strategy}\n"
        if self.flags:
            return text + self.flagged(y)
        for m in self.cases:
            present = [o for k, o in enumerate(self.operands) if m >> k & 1]
            name = " & ".join(o.name for o in present) or "none"
            its = f" ({', '.join('%i_' + o.name for o in present)})" if present else ""
            text += f"    case \"{name}\"{its} {{\n      %v0 = arith.constant {1000 * m}.0 : f64\n"
            last = "%v0"
            for o in present:
                text += f"      %x_{o.name} = tulle.load %{o.name}[%i_{o.name} : {o.iterator(o.levels() - 1)}] : {o.tensor()} -> f64\n"
                text += f"      %s_{o.name}_sum = arith.addf {last}, %x_{o.name} : f64\n"
                last = f"%s_{o.name}_sum"
            text += f"      %mi = arith.constant {100 * m} : i64\n" + self.record(last, y)
        return text + self.end()

    def record(self, value, y):
        """Stores the value at the coordinate, and adds the coordinate and %mi to the hash."""
        text = f"      %at = tulle.locate %t level(0) at %i : tensor<{N}xf64> -> !tulle.iterator<{y}, 0>\n"
        text += f"      %t2 = tulle.store {value}, %t[%at : !tulle.iterator<{y}, 0>] : f64, tensor<{N}xf64>\n"
        text += "      %ci = arith.index_cast %i : index to i64\n"
        text += "      %g1 = arith.muli %g, %m31 : i64\n      %g2 = arith.addi %g1, %ci : i64\n      %g3 = arith.addi %g2, %mi : i64\n"
        return text + f"      tulle.yield %t2, %g3 : tensor<{N}xf64>, i64\n    }}\n"

    def flagged(self, y):
        names = ", ".join(f"%i_{o.name} if %p_{o.name}" for o in self.operands)
        text = f"    flags ({names}) {{\n      %v0 = arith.constant 0.0 : f64\n      %m0 = arith.constant 0 : i64\n"
        value, number = "%v0", "%m0"
        for k, o in enumerate(self.operands):
            n = o.name
            text += f"      %x_{n}, %n_{n} = scf.if %p_{n} -> (f64, i64) {{\n        %m_{n} = arith.constant {1000 << k}.0 : f64\n"
            text += f"        %l_{n} = tulle.load %{n}[%i_{n} : {o.iterator(o.levels() - 1)}] : {o.tensor()} -> f64\n"
            text += f"        %a_{n} = arith.addf %l_{n}, %m_{n} : f64\n        %b_{n} = arith.constant {100 << k} : i64\n"
            text += f"        scf.yield %a_{n}, %b_{n} : f64, i64\n      }} else {{\n        scf.yield %v0, %m0 : f64, i64\n      }}\n"
            text += f"      %sum_{n} = arith.addf {value}, %x_{n} : f64\n      %num_{n} = arith.addi {number}, %n_{n} : i64\n"
            value, number = f"%sum_{n}", f"%num_{n}"
        text += f"      %mi = arith.addi {number}, %m0 : i64\n"
        return text + self.record(value, y) + self.end()

    def end(self):
        text = f"    %h2 = tulle.store %r#1, %h[] : i64, tensor<i64>\n    return %r#0, %h2 : tensor<{N}xf64>, tensor<i64>\n  }}\n"
        return text

    def main(self):
        """Globals, and the call."""
        k, globals_text, body, args, types = self.index, "", "", [], []

        def buffer(name, type, values):
            nonlocal globals_text, body
            globals_text += f"memref.global \"private\" constant @{name} : memref<{len(values)}x{type}> = dense<[{', '.join(map(str, values))}]>\n"
            body += f"  %{name}_g = memref.get_global @{name} : memref<{len(values)}x{type}>\n"
            body += f"  %{name} = memref.cast %{name}_g : memref<{len(values)}x{type}> to memref<?x{type}>\n"
            args.append(f"%{name}")
            types.append(f"memref<?x{type}>")

        for o in self.operands:
            for f, (type, values) in enumerate(o.buffers()):
                buffer(f"b{k}_{o.name}_{f}", type, values)
            for d, size in enumerate(o.dims):
                body += f"  %d{k}_{o.name}_{d} = arith.constant {size} : index\n"
                args.append(f"%d{k}_{o.name}_{d}")
                types.append("index")
        body += f"  %lo{k} = arith.constant {self.lo} : index\n  %hi{k} = arith.constant {self.hi} : index\n"
        args += ["%y", "%n", "%h", f"%lo{k}", f"%hi{k}"]
        types += ["memref<?xf64>", "index", "memref<?xi64>", "index", "index"]
        body += f"  func.call @k{k}({', '.join(args)}) : ({', '.join(types)}) -> ()\n"
        body += f"  %y{k} = vector.load %y[%c0] : memref<?xf64>, vector<{N}xf64>\n  vector.print %y{k} : vector<{N}xf64>\n"
        body += f"  %h{k} = memref.load %h[%c0] : memref<?xi64>\n  vector.print %h{k} : i64\n"
        return globals_text, body

    def expected(self):
        y, h = [-1] * N, 7
        for c in range(N):
            m = sum(1 << k for k, o in enumerate(self.operands) if c in o.values)
            if 0 in self.cases and not self.lo <= c < self.hi:
                continue
            if m in self.cases:
                y[c] = 1000 * m + sum(o.values.get(c, 0) for o in self.operands)
                h = (h * 31 + c + 100 * m) & MASK
        signed = h - (1 << 64) if h >> 63 else h
        return f"( {', '.join(map(str, y))} )\n{signed}\n"


def main():
    what, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    programs = [Program(rng, k) for k in range(count)]
    if what == "kernels":
        print("".join(p.kernel() for p in programs))
    elif what == "expected":
        print("".join(p.expected() for p in programs), end="")
    else:
        parts = [p.main() for p in programs]
        print("".join(g for g, _ in parts))
        print(f"func.func @main() {{\n  %c0 = arith.constant 0 : index\n  %n = arith.constant {N} : index\n  %one = arith.constant 1 : index\n"
              "  %y = memref.alloc(%n) : memref<?xf64>\n  %h = memref.alloc(%one) : memref<?xi64>\n")
        print("".join(b for _, b in parts) + "  return\n}")


main()
