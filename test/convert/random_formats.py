"""Random encodings: every dimension split into digits, the levels in any order, each in any format that may stand there."""

# Level formats that are declared as text; some cannot hold every tensor.
DECLARED = {
    "ell4": "properties padded; query select [p] -> count(c) as nz; size K = (max(nz) + 3) / 4 * 4; coordinates crd[q] = c; "
            "positions(p) = p * K to p * K + K; coordinate(p, q) = crd[q]; insert append;",
    "spare": "properties padded; query select [p] -> count(c) as nz; query select [p] -> max(c) as last; "
             "edges pos[p + 1] = pos[p] + max(nz[p] + nz[p] mod 2, min(last[p], 3)); coordinates crd[q] = c; "
             "positions(p) = pos[p] to pos[p + 1]; coordinate(p, q) = crd[q]; insert append;",
    "window": "query select [p] -> min(c) as first; query select [p] -> max(c) as last; coordinates crd[p] = first[p] / 2 * 2; "
              "edges pos[p + 1] = pos[p] + min(last[p] + 1, N) - min(first[p] / 2 * 2, last[p] + 1); "
              "positions(p) = pos[p] to pos[p + 1]; coordinate(p, q) = crd[p] + q - pos[p]; insert(p, c) = pos[p] + c - crd[p];",
    "front": "query select [p] -> max(c) as last; size K = min((max(last) + 2) / 2 * 2, N); positions(p) = p * K to p * K + K; "
             "coordinate(p, q) = q - p * K; insert(p, c) = p * K + c;",
    "even": "query select [p] -> max(c) as last; edges pos[p + 1] = pos[p] + (last[p] + 2) / 2; positions(p) = pos[p] to pos[p + 1]; "
            "coordinate(p, q) = (q - pos[p]) * 2; insert(p, c) = pos[p] + c / 2;",
    "three": "properties padded; query select [p] -> count(c) as nz; edges pos[p + 1] = pos[p] + min(nz[p], 3); coordinates crd[q] = c; "
             "positions(p) = pos[p] to pos[p + 1]; coordinate(p, q) = crd[q]; insert append;",
    # Built-in formats in each part.
    "rows": "query select [p] -> count(c) as nz; edges pos[p + 1] = pos[p] + nz[p]; coordinates crd[q] = c; "
            "positions(p) = pos[p] to pos[p + 1]; coordinate(p, q) = crd[q]; insert append;",
    "shared": "query select [c] -> id() as used; size K = count(used); coordinates crd[k] = nth(used, k); "
              "positions(p) = p * K to p * K + K; coordinate(p, q) = crd[q - p * K]; insert(p, c) = p * K + rank(used, c);",
}

KINDS = ["dense", "dense", "compressed", "compressed", "compressed", "loose_compressed", "loose_compressed[2]", "hashed", "bitmap", "ragged", "jagged", "fixed",
         "squeezed", "banded", "compressed(nonordered)", *DECLARED]


def digits(rng, name):
    """`i`, or a complete set of its floordivs and mods."""
    shape = rng.random()
    if shape < 0.6:
        return [name]
    b = rng.randint(2, 4)
    if shape < 0.9:
        return [f"{name} floordiv {b}", f"{name} mod {b}"]
    c = rng.randint(2, 3)
    return [f"{name} floordiv {b * c}", f"{name} floordiv {b} mod {c}", f"{name} mod {b}"]


def counted(rng, names):
    """A counter among dense levels, above the one level that stores coordinates."""
    names = rng.sample(names, len(names))
    others = sorted(rng.sample(names[:-1], rng.randint(1, len(names) - 1)))
    kinds = ["compressed", "compressed(nonordered)", "loose_compressed", "bitmap"]
    if len(others) + 1 == len(names):
        kinds.append("singleton(padded)")
    levels = [f"{name} : dense" for name in names[:-1]]
    counter = f"#{others[0]}" if len(others) == 1 else f"#({', '.join(others)})"
    levels.insert(rng.randint(0, len(levels)), f"{counter} : dense")
    return f"({', '.join(sorted(names))}) -> ({', '.join(levels)}, {names[-1]} : {rng.choice(kinds)})"


def encoding(rng, order):
    names = "ijk"[:order]
    if order > 1 and rng.random() < 0.15:
        return counted(rng, names)
    exprs = [expr for name in names for expr in digits(rng, name)]
    rng.shuffle(exprs)
    kinds = []
    while len(kinds) < len(exprs):
        left = len(exprs) - len(kinds)
        if not kinds and rng.random() < 0.1:
            kinds.append("batch")
        elif left >= 2 and rng.random() < 0.3:
            # A run: one position for each tuple of the coordinates of its levels.
            run = rng.randint(2, left)
            soa = rng.random() < 0.5
            start = rng.choice(["compressed(nonunique)", "compressed(nonunique)", "loose_compressed(nonunique)", "loose_compressed[1](nonunique)"])
            inner = "singleton(nonunique, soa)" if soa else "singleton(nonunique)"
            kinds += [start] + [inner] * (run - 2) + ["singleton(soa)" if soa else "singleton"]
        else:
            kinds.append(rng.choice(KINDS))
    if kinds[0] == "batch":  # the compressed level that it is has a segment more for each batch
        kinds = [kind if kind != "rows" else "compressed" for kind in kinds]
    for l, expr in enumerate(exprs):
        m = int(expr.split()[-1]) if " mod " in expr else 0
        if m and kinds[l] == "dense" and rng.random() < 0.3:
            kinds[l] = f"structured[{rng.randint(1, m)},{m}]"
    levels = ", ".join(f"{expr} : {kind}" for expr, kind in zip(exprs, kinds))
    widths = rng.choice(["", "", ", posWidth = 64", ", crdWidth = 16", ", posWidth = 16, crdWidth = 8"])
    explicit = rng.choice([", explicitVal = 1"] + [""] * 7)
    used = " ".join(f"level {name} {{ {DECLARED[name]} }}" for name in DECLARED if name in kinds)
    declared = f", levels = {{ {used} }}" if used else ""
    return f"map = ({', '.join(names)}) -> ({levels}){widths}{explicit}{declared}"


def tensor(rng, order):
    """Sizes and entries, some of them twice, some of them zero."""
    dims = tuple(rng.choice([1, 2, 3, 4, 5, 7, 9]) for _ in range(order))
    count = rng.choice([0, 1, 3, 10, 25])
    coords = [tuple(rng.randrange(n) for n in dims) for _ in range(count)]
    some = rng.choice([[0, 1, 2, 3, 4, 5, -1, -2]] * 3 + [[1]])
    values = [float(rng.choice(some)) for _ in coords]
    return dims, coords, values
