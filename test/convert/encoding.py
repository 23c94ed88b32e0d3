"""Encodings for the storage model: presets, and a reader of encoding texts, both written from docs/design/formats.md.

Nothing here is shared with the compiler, so that a mistake in one shows as a difference.
"""
import dataclasses
import re


@dataclasses.dataclass
class Declaration:
    """A level format declared as text: the right sides of its parts, as trees of the names that they read."""
    padded: bool = False
    queries: dict = dataclasses.field(default_factory=dict)  # {name: "count", "max", "min" or "id"}
    size: tuple | None = None      # of K
    edges: tuple | None = None     # pos[p + 1] - pos[p]
    crd: tuple = ()                # (index, value): ("q", c), ("p", …), ("k", nth(used, k))
    positions: tuple = ()          # (begin, end)
    coordinate: tuple | None = None
    insert: tuple | None = None    # None: append


@dataclasses.dataclass
class Level:
    expr: tuple  # a tree: ("dim", 0), ("const", 2), ("+", a, b), ("counter", (0,)), ("rank", ranked, counted, window), ...
    kind: str
    integers: tuple = ()
    properties: frozenset = frozenset()
    declaration: Declaration | None = None

    @property
    def unique(self):
        return "nonunique" not in self.properties

    @property
    def padded(self):
        return self.declaration.padded if self.declaration else "padded" in self.properties


@dataclasses.dataclass
class Encoding:
    dims: list
    levels: list
    pos_width: int = 0
    crd_width: int = 0
    fill: float = 0.0
    explicit: float | None = None
    text: str = ""

    @property
    def is_dense(self):
        return all(level.kind in ("dense", "batch") for level in self.levels)

    @property
    def ordered(self):
        return all("nonordered" not in level.properties for level in self.levels)


TOKEN = re.compile(r"\s*(->|<<|>>|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[-+*/%&|^()\[\]{},:;=#])")
BINARY = {"|": 1, "^": 2, "&": 3, "<<": 4, "shl": 4, ">>": 4, "shr": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "floordiv": 6, "mod": 6}
SAME = {"/": "floordiv", "%": "mod", "<<": "shl", ">>": "shr"}


class Reader:
    """A recursive-descent reader of `(i, j) -> (…), posWidth = …`."""

    def __init__(self, text):
        self.tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"cannot read {text[at:]!r}")
            token, at = match[1], match.end()
            # `i-1` is a difference; a negative number stands after an operator only.
            if token[0] == "-" and token[1:].isdigit() and self.tokens and re.match(r"\w|\)", self.tokens[-1]):
                self.tokens += ["-", token[1:]]
            else:
                self.tokens.append(token)
        self.tokens.append("")
        self.at = 0

    def peek(self):
        return self.tokens[self.at]

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted is not None and token != wanted:
            raise ValueError(f"expected {wanted!r}, got {token!r}")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def encoding(self):
        if self.accept("map"):
            self.take("=")
        self.dims, self.lets = [], {}
        self.take("(")
        while not self.accept(")"):
            self.dims.append(self.take())
            self.accept(",")
        self.take("->")
        self.take("(")
        out = Encoding(self.dims, [])
        while not self.accept(")"):
            out.levels.append(self.level())
            self.accept(",")
        while self.accept(","):
            name = self.take()
            self.take("=")
            if name == "levels":
                self.declare(out.levels)
                continue
            value = self.take()
            if name == "posWidth":
                out.pos_width = int(value)
            elif name == "crdWidth":
                out.crd_width = int(value)
            elif name == "fill":
                out.fill = float(value)
            elif name == "explicitVal":
                out.explicit = float(value)
            else:
                raise ValueError(f"unknown field {name}")
        self.take("")
        return out

    def declare(self, levels):
        """`{ level NAME { … } … }`: what levels of these names are."""
        self.take("{")
        while not self.accept("}"):
            self.take("level")
            name, declaration = self.take(), self.declaration()
            for level in levels:
                if level.kind == name:
                    level.kind, level.declaration = "declared", declaration

    def declaration(self):
        out = Declaration()
        self.take("{")
        while not self.accept("}"):
            part = self.take()
            if part == "properties":
                while not self.accept(";"):
                    out.padded |= self.take() == "padded"
                    self.accept(",")
                continue
            if part == "query":  # select [p] -> count(c) as nz
                words = [self.take() for _ in range(self.tokens.index(";", self.at) - self.at)]
                out.queries[words[-1]] = words[5]
            elif part == "insert" and self.accept("append"):
                out.insert = None
            else:
                index = self.left_side(part)
                value = self.declared_expression()
                if part == "edges":  # pos[p] + …
                    assert value[0] == "+" and value[1] == ("at", "pos", ("name", "p")), value
                    out.edges = value[2]
                elif part == "coordinates":
                    out.crd = index, value
                elif part == "positions":
                    self.take("to")
                    out.positions = value, self.declared_expression()
                else:
                    setattr(out, part, value)
            self.take(";")
        return out

    def left_side(self, part):
        """`K =`, `pos[p + 1] =`, `crd[q] =`, `(p, q) =`; returns the index of crd."""
        words = []
        while not self.accept("="):
            words.append(self.take())
        return words[2] if part == "coordinates" else None

    def declared_expression(self, lowest=1):
        token = self.take()
        if token == "(":
            left = self.declared_expression()
            self.take(")")
        elif token.isdigit():
            left = ("const", int(token))
        elif self.accept("("):  # min(a, b), max(nz), count(used), nth(used, k), rank(used, c)
            arguments = [self.declared_expression()]
            while self.accept(","):
                arguments.append(self.declared_expression())
            self.take(")")
            left = ("call", token, *arguments)
        elif self.accept("["):
            left = ("at", token, self.declared_expression())
            self.take("]")
        else:
            left = ("name", token)
        while BINARY.get(self.peek(), 0) >= lowest:
            operator = self.take()
            right = self.declared_expression(BINARY[operator] + 1)
            # A sum leans to the left: `pos[p] + a - b` adds `a - b`.
            if left[0] == "+" and operator in "+-" and left[1][0] == "at":
                left = ("+", left[1], (operator, left[2], right))
            else:
                left = (SAME.get(operator, operator), left, right)
        return left

    def level(self):
        expr = self.expression()
        self.take(":")
        kind, integers, properties = self.take(), (), set()
        if self.accept("["):
            while not self.accept("]"):
                integers += (int(self.take()),)
                self.accept(",")
        if self.accept("("):
            while not self.accept(")"):
                properties.add(self.take())
                self.accept(",")
        if kind == "block2_4":
            kind, integers = "structured", (2, 4)
        if kind == "compressed" and "high" in properties:
            kind, properties = "loose_compressed", properties - {"high"}
        return Level(expr, kind, integers, frozenset(properties))

    def expression(self, lowest=1):
        if self.accept("let"):
            name = self.take()
            self.take("=")
            self.lets[name] = self.expression()
            self.take("in")
            return self.expression()
        left = self.primary()
        while BINARY.get(self.peek(), 0) >= lowest:
            operator = self.take()
            right = self.expression(BINARY[operator] + 1)
            left = (SAME.get(operator, operator), left, right)
        return left

    def primary(self):
        token = self.take()
        if token == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if token == "#":
            dims = []
            if not self.accept("("):
                dims.append(self.dims.index(self.take()))
            else:
                while not self.accept(")"):
                    dims.append(self.dims.index(self.take()))
                    self.accept(",")
            slices = 0
            if self.accept("["):
                slices = int(self.take())
                self.take("]")
            return ("counter", tuple(dims), slices)
        if token == "rank":
            self.take("(")
            ranked = self.dims.index(self.take())
            self.take("by")
            self.take("count")
            self.take("(")
            counted = self.dims.index(self.take())
            self.take(")")
            window = int(self.take()) if self.accept("within") else None
            self.take(")")
            return ("rank", ranked, counted, window)
        if re.fullmatch(r"-?\d+", token):
            return ("const", int(token))
        if token in self.lets:
            return self.lets[token]
        return ("dim", self.dims.index(token))


def morton(bits, order):
    """Bit k of dimension d's block at bit k * order + order - 1 - d."""
    return ("morton", *(("shr", ("dim", d), ("const", bits)) for d in range(order)))


def preset(name, arguments, order):
    names = [f"d{d}" for d in range(order)] if order > 8 else list("ijklmnop"[:order])
    along = lambda kinds, dims: ", ".join(f"{d} : {kind}" for d, kind in zip(dims, kinds))
    text = lambda levels: f"({', '.join(names)}) -> ({levels})"
    same = lambda kind, dims=None: text(along([kind] * order, dims or names))
    coo = lambda rest: ["compressed(nonunique)" if order > 1 else "compressed"] + \
        [f"singleton(nonunique{rest})"] * (order - 2) + ([f"singleton({rest[2:]})" if rest else "singleton"] if order > 1 else [])
    i, j, a = "i", "j", arguments
    matrices = {
        "CSR": "i : dense, j : compressed",
        "CSC": "j : dense, i : compressed",
        "DCSR": "i : compressed, j : compressed",
        "DCSC": "j : compressed, i : compressed",
        "BCSR": "i floordiv {0} : dense, j floordiv {1} : compressed, i mod {0} : dense, j mod {1} : dense",
        "BCSC": "j floordiv {1} : dense, i floordiv {0} : compressed, i mod {0} : dense, j mod {1} : dense",
        "DIA": "j - i : squeezed, i : dense, j : offset",
        "ELL": "#i : dense, i : dense, j : singleton(padded)",
        "ELLR": "i : dense, j : fixed",
        "JDS": "#i : dense, rank(i by count(j)) : ragged, j : singleton",
        "SELL": "rank(i by count(j) within {1}) floordiv {0} : dense, #i : ragged(padded), "
                "rank(i by count(j) within {1}) mod {0} : dense, j : singleton(padded)",
        "skyline": "i : dense, j : banded",
        "NV24": "i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]",
        "NM": "i : dense, j floordiv {1} : dense, j mod {1} : structured[{0},{1}]",
    }
    if name in matrices:
        out = Reader(text(matrices[name].format(*arguments))).encoding()
        if name == "NV24":
            out.crd_width = 2
        return out
    if name == "HiCOO":
        side = 1 << a[0]
        offsets = [f"{n} mod {side} : singleton{'' if n == names[-1] else '(nonunique)'}" for n in names]
        out = Reader(text(", ".join(["i : compressed(nonunique)", *offsets]))).encoding()
        out.levels[0].expr = morton(a[0], order)
        return out
    if name == "CSF":
        return Reader(same("compressed", [names[d] for d in a] if a else names)).encoding()
    texts = {
        "dense": lambda: same("dense"),
        "denseColMajor": lambda: same("dense", names[::-1]),
        "COO": lambda: text(along(coo(""), names)),
        "COO-soa": lambda: text(along(coo(", soa"), names)),
        "BCOO": lambda: text(along(["dense", "loose_compressed(nonunique)" if order > 2 else "loose_compressed"] + coo("")[2:], names)),
        "DOK": lambda: same("hashed"),
        "bitmap": lambda: text(along(["dense"] * (order - 1) + ["bitmap"], names)),
        "ragged": lambda: text(along(["dense"] + ["ragged"] * (order - 1), names)),
        "jagged": lambda: text(along(["dense"] + ["jagged"] * (order - 1), names)),
    }
    return Reader(texts[name]()).encoding()


def parse(text, order):
    """The encoding of a preset's name, with its arguments, or of an encoding text."""
    match = re.fullmatch(r"([A-Za-z]\w*(?:-soa)?)(?:\(([\d,\s]*)\))?", text.strip())
    if match and match[1] != "map":
        out = preset(match[1], [int(n) for n in match[2].split(",")] if match[2] else [], order)
    else:
        out = Reader(text).encoding()
    out.text = text
    return out
