"""A slow, obvious model of storage: the exact buffers of a tensor in any encoding.

Written from the table in lib/format/Layout.h, one function per level format. A level turns the list of slots above it (one
per parent position) into the list of its own slots (one per position) and the fields it stores. Everything is a Python list.
"""
import collections
import dataclasses
import itertools
import math

EMPTY = -1  # a coordinate with all bits set


class Refused(Exception):
    """The data does not fit the encoding; the compiler must refuse it, too."""


class TooLarge(Exception):
    """More slots than this slow model was asked to follow."""


@dataclasses.dataclass
class Slot:
    """A position: the level coordinates that lead to it (None: it is empty) and the entries below it."""
    at: tuple
    entries: list
    batch: int = 0  # which combination of the batch levels' coordinates it belongs to

    def below(self, c, entries=()):
        return Slot(None if c is None or self.at is None else self.at + (c,), list(entries), self.batch)


@dataclasses.dataclass
class Field:
    kind: str  # sizes, permutation, positions, coordinates, bits, values
    level: int
    data: list


@dataclasses.dataclass
class Storage:
    dims: tuple
    encoding: object
    fields: list

    def field(self, kind, level):
        return next((f.data for f in self.fields if (f.kind, f.level) == (kind, level)), None)


def combine(coords, values):
    """{coordinates: value}, duplicates summed in the order of arrival."""
    out = {}
    for at, value in zip(coords, values):
        at = tuple(at)
        out[at] = out[at] + value if at in out else value
    return out


# --- Level coordinates -----------------------------------------------------------------------------------------------------


def evaluate(expr, at, numbers):
    """The value of a level's expression at dimension coordinates; `numbers` has those of counters and ranks."""
    kind = expr[0]
    if kind == "const":
        return expr[1]
    if kind == "dim":
        return at[expr[1]]
    if kind in ("counter", "rank"):
        return numbers[expr][at if kind == "counter" else at[expr[1]]]
    of = [evaluate(part, at, numbers) for part in expr[1:]]
    if kind == "morton":
        return sum((x >> k & 1) << k * len(of) + len(of) - 1 - d for d, x in enumerate(of) for k in range(16))
    a, b = of
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "floordiv": lambda: a // b, "mod": lambda: a % b,
            "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b, "shl": lambda: a << b, "shr": lambda: a >> b}[kind]()


def parts(expr):
    yield expr
    for part in expr[1:]:
        if isinstance(part, tuple) and part and isinstance(part[0], str):
            yield from parts(part)


def ranks(expr, entries, dims):
    """{coordinate: rank}: windows of coordinates, each sorted stably by decreasing number of stored entries."""
    _, ranked, counted, window = expr
    others = collections.defaultdict(set)
    for at in entries:
        others[at[ranked]].add(at[counted])
    out = {}
    n = dims[ranked]
    window = window or max(n, 1)
    for begin in range(0, n, window):
        order = sorted(range(begin, min(begin + window, n)), key=lambda i: -len(others[i]))
        out.update({i: begin + r for r, i in enumerate(order)})
    return out


def digit(expr):
    """(dim, stride, modulus or 0) of `i`, `i floordiv n`, `i mod n` and what nests of them."""
    if expr[0] == "dim":
        return expr[1], 1, 0
    if expr[0] not in ("floordiv", "mod") or expr[2][0] != "const":
        return None
    inner, n = digit(expr[1]), expr[2][1]
    if inner is None:
        return None
    d, stride, modulus = inner
    return (d, stride * n, modulus // n) if expr[0] == "floordiv" else (d, stride, n)


def offset_coordinate(levels, l, at):
    """(dimension, coordinate) of an offset level `j` below a level `j - i` and the levels that give i."""
    d = levels[l].expr[1]
    for level, c in zip(levels[:l], at):
        if level.expr[0] == "-" and level.expr[1] == ("dim", d):
            return d, c + dimension(level.expr[2], levels[:l], at)
    raise NotImplementedError("an offset that is not a difference")


def dimension(expr, levels, at):
    """A dimension's coordinate from the levels that are its digits."""
    mine = [(digit(level.expr), c) for level, c in zip(levels, at) if digit(level.expr)]
    return sum(c * stride for (d, stride, _), c in mine if d == expr[1])


def numbering(encoding, entries, dims):
    """What counters and ranks give: a counter numbers the entries that agree in its dimensions in ascending order."""
    out = {}
    for level in encoding.levels:
        for expr in parts(level.expr):
            if expr[0] == "rank":
                out[expr] = ranks(expr, entries, dims)
            if expr[0] == "counter" and expr not in out:
                seen = collections.Counter()
                out[expr] = {}
                for at in sorted(entries):
                    key = tuple(at[d] for d in expr[1])
                    out[expr][at] = seen[key]
                    seen[key] += 1
    return out


def level_size(expr, dims, numbers):
    """One more than the largest coordinate the level can have."""
    kind = expr[0]
    if kind == "counter":
        longest = max(numbers[expr].values(), default=-1) + 1
        if expr[2] and longest > expr[2]:
            raise Refused(f"{longest} entries agree in {expr[1]}, and there are {expr[2]} slices")
        return expr[2] or longest
    if kind == "rank":
        return dims[expr[1]]
    if kind == "mod":
        return expr[2][1]
    if kind == "dim":
        return dims[expr[1]]
    if kind == "floordiv":
        return math.ceil(level_size(expr[1], dims, numbers) / expr[2][1])
    raise NotImplementedError(f"size of a level {expr}")


# --- Declarations ----------------------------------------------------------------------------------------------------------


class Known(dict):
    """What the names of a declaration are: numbers, and lists by position. Called with an expression, its value."""

    def __init__(self, **values):
        super().__init__(values)

    def __call__(self, expr, **more):
        kind, *of = expr
        if kind == "const":
            return of[0]
        if kind == "name":
            return more[of[0]] if of[0] in more else self[of[0]]
        if kind == "at":
            return self[of[0]][self(of[1], **more)]
        if kind == "call":
            name, *arguments = of
            if name == "max" and len(arguments) == 1:
                return self["largest"][arguments[0][1]]
            values = [self(argument, **more) for argument in arguments]
            return {"min": min, "max": max, "count": len, "nth": lambda used, k: used[k], "rank": lambda used, c: used.index(c)}[name](*values)
        a, b = (self(side, **more) for side in of)
        return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "floordiv": lambda: a // b, "mod": lambda: a % b}[kind]()


# --- Level formats ---------------------------------------------------------------------------------------------------------


class Builder:
    """Stores entries, level by level; no level may have more than `most` slots."""

    def __init__(self, dims, stored, encoding, most=math.inf):
        self.dims, self.stored, self.encoding, self.levels, self.most = tuple(dims), stored, encoding, encoding.levels, most
        self.numbers = numbering(encoding, stored, self.dims)
        self.coords = {at: tuple(evaluate(level.expr, at, self.numbers) for level in self.levels) for at in stored}
        self.fields, self.batch_count = [], 1

    def run(self):
        slots = [Slot((), sorted(self.stored, key=self.coords.get))]
        for l, level in enumerate(self.levels):
            self.extra_fields(l)
            slots = getattr(self, level.kind)(l, slots)
            self.allow(len(slots))
        fill = self.encoding.fill
        values = []
        for slot in slots:
            if len(slot.entries) > 1:
                raise Refused(f"several entries at one position: {slot.entries}")
            values.append(self.stored[slot.entries[0]] if slot.entries else fill)
        if self.encoding.explicit is not None:
            # All entries have the one value, which is not stored; how many there are is.
            for at, value in self.stored.items():
                if value != self.encoding.explicit:
                    raise Refused(f"the entry at {at} is {value}, not {self.encoding.explicit}")
            values = [self.encoding.explicit] * len(slots)
        self.add("values", len(self.levels), values)
        self.check_widths()
        order = {kind: k for k, kind in enumerate(["sizes", "permutation", "positions", "coordinates", "bits", "values"])}
        self.fields.sort(key=lambda f: (f.level, order[f.kind]))
        return Storage(self.dims, self.encoding, self.fields)

    def add(self, kind, l, data):
        self.fields.append(Field(kind, l, data))

    def allow(self, slots):
        """Levels that can have many more slots than entries ask before they make them."""
        if slots > self.most:
            raise TooLarge(f"{slots} slots, {self.most} allowed")

    def size(self, l):
        return level_size(self.levels[l].expr, self.dims, self.numbers)

    def extra_fields(self, l):
        expr = self.levels[l].expr
        if expr[0] == "counter" and self.levels[l].kind == "dense":
            self.add("sizes", l, [self.size(l)])
        rank = next((e for e in parts(expr) if e[0] == "rank"), None)
        if rank and not any(f.kind == "permutation" for f in self.fields):
            position = self.numbers[rank]
            self.add("permutation", l, sorted(position, key=position.get))

    def groups(self, slot, l, last=None):
        """{coordinate: entries} in ascending order; of a run of levels, {coordinates of levels l..last: entries}."""
        out = collections.defaultdict(list)
        for e in slot.entries:
            out[self.coords[e][l] if last is None else self.coords[e][l:last + 1]].append(e)
        return dict(sorted(out.items()))

    def run_end(self, l):
        """The last of the singletons below a nonunique level: together they store one position for each of their tuples."""
        end = l
        while end + 1 < len(self.levels) and self.levels[end + 1].kind == "singleton" and not self.levels[end].unique:
            end += 1
        return end

    # Levels without coordinates of their own.

    def dense(self, l, slots):
        out, size = [], self.size(l)
        self.allow(len(slots) * size)
        for slot in slots:
            groups = self.groups(slot, l)
            for c in range(size):
                out.append(slot.below(c, groups.get(c, [])))
        return out

    def batch(self, l, slots):
        out = self.dense(l, slots)
        for b, slot in enumerate(out):
            slot.batch = b
        self.batch_count = len(out)
        return out

    def bitmap(self, l, slots):
        out = self.dense(l, slots)
        for slot in out:
            if not slot.entries:
                slot.at = None
        self.add("bits", l, [int(slot.at is not None) for slot in out])
        return out

    def offset(self, l, slots):
        out = []
        for slot in slots:
            d, c = offset_coordinate(self.levels, l, slot.at) if slot.at is not None else (0, -1)
            out.append(slot.below(c if 0 <= c < self.dims[d] else None, slot.entries))
        return out

    def ragged(self, l, slots, loose=False):
        out, pos = [], [] if loose else [0]
        for slot in slots:
            groups = self.groups(slot, l)
            self.allow(len(out) + max(groups, default=-1) + 1)
            pos += [len(out)] if loose else []
            for c in range(max(groups, default=-1) + 1):
                out.append(slot.below(c, groups.get(c, [])))
            pos.append(len(out))
        self.add("positions", l, pos)
        return out

    def jagged(self, l, slots):
        return self.ragged(l, slots, loose=True)

    # Levels that store coordinates.

    def compressed(self, l, slots, loose=False):
        end = self.run_end(l)
        out, starts, ends = [], [], []
        for slot in slots:
            starts.append(len(out))
            for key, entries in self.groups(slot, l, end).items():
                out.append(slot.below(key[0], entries))
            ends.append(len(out))
            # A position in reserve: no coordinates and no entries.
            out += [slot.below(None) for _ in range(self.levels[l].integers[0] if self.levels[l].integers else 0)]
        if loose:
            pos = [p for segment in zip(starts, ends) for p in segment]
        else:
            pos = []
            for b in range(self.batch_count):
                # A batch of no parents starts where the one before it ended.
                pos.append(pos[-1] if pos else 0)
                pos += [p for slot, p in zip(slots, ends) if slot.batch == b]
        self.add("positions", l, pos)
        self.store_run(l, end, out)
        return out

    def loose_compressed(self, l, slots):
        return self.compressed(l, slots, loose=True)

    def store_run(self, l, end, out):
        """Coordinates of level l and, where they are interleaved with it, of the singletons of its run."""
        self.interleaved = end if end > l and "soa" not in self.levels[end].properties else l
        data = []
        for slot in out:
            coords = self.coords[slot.entries[0]] if slot.entries else (EMPTY,) * len(self.levels)
            data += coords[l:self.interleaved + 1]
        self.add("coordinates", l, data)

    def singleton(self, l, slots):
        out, data = [], []
        for slot in slots:
            groups = self.groups(slot, l)
            if len(groups) > 1:
                raise Refused(f"level {l}: {len(groups)} coordinates where a singleton holds one")
            c = next(iter(groups), None)
            if c is None and slot.at is not None and not self.levels[l].padded:
                raise Refused(f"level {l}: no coordinate for a singleton")
            out.append(slot.below(c, slot.entries))
            data.append(EMPTY if c is None else c)
        if l > getattr(self, "interleaved", -1):
            self.add("coordinates", l, data)
        return out

    def structured(self, l, slots):
        n, m = self.levels[l].integers
        out = []
        d, stride = digit(self.levels[l].expr)[:2]
        rest = -(-self.dims[d] // stride) % m
        if slots and 0 < rest < n:
            raise Refused(f"level {l}: the last group has {rest} coordinates, structured[{n},…] stores {n}")
        for slot in slots:
            groups = self.groups(slot, l)
            if len(groups) > n:
                raise Refused(f"level {l}: group {slot.at} has {len(groups)} entries, structured[{n},…] holds {n}")
            free = (c for c in range(m) if c not in groups)
            groups |= {c: [] for c in itertools.islice(free, n - len(groups))}
            out += [slot.below(c, entries) for c, entries in sorted(groups.items())]
        self.add("coordinates", l, [0 if slot.at is None else slot.at[-1] for slot in out])
        return out

    def beyond(self, at):
        """Whether a block's levels lead outside the tensor."""
        low = [0] * len(self.dims)
        for level, c in zip(self.levels, at):
            d, stride = digit(level.expr)[:2]
            low[d] += c * stride
        return any(x >= n and x > 0 for x, n in zip(low, self.dims))

    def fixed(self, l, slots):
        groups = [self.groups(slot, l) for slot in slots]
        longest = max(map(len, groups), default=0)
        n = self.levels[l].integers[0] if self.levels[l].integers else longest
        if longest > n:
            raise Refused(f"level {l}: {longest} coordinates below one parent, fixed[{n}] holds {n}")
        if not self.levels[l].integers:
            self.add("sizes", l, [n])
        self.allow(len(slots) * n)
        out = []
        for slot, group in zip(slots, groups):
            out += [slot.below(c, entries) for c, entries in group.items()]
            out += [slot.below(None) for _ in range(n - len(group))]
        self.add("coordinates", l, [EMPTY if slot.at is None else slot.at[-1] for slot in out])
        return out

    def squeezed(self, l, slots):
        occur = sorted({self.coords[e][l] for slot in slots for e in slot.entries})
        self.add("sizes", l, [len(occur)])
        self.add("coordinates", l, occur)
        self.allow(len(slots) * len(occur))
        out = []
        for slot in slots:
            groups = self.groups(slot, l)
            out += [slot.below(c, groups.get(c, [])) for c in occur]
        return out

    def banded(self, l, slots):
        size = self.size(l)
        out, pos, first = [], [0], []
        for slot in slots:
            groups = self.groups(slot, l)
            first.append(min(groups, default=0))
            if groups:
                above = [min(slot.at[-1], size - 1)] if l > 0 else []
                end = max([*groups, *above]) + 1
                self.allow(len(out) + end - min(groups))
                for c in range(min(groups), end):
                    out.append(slot.below(c, groups.get(c, [])))
            pos.append(len(out))
        self.add("positions", l, pos)
        self.add("coordinates", l, first)
        return out

    def hashed(self, l, slots):
        out, pos = [], [0]
        for slot in slots:
            groups = self.groups(slot, l)
            table = [slot.below(None) for _ in range(0 if not groups else 1 << (2 * len(groups) - 1).bit_length())]
            for c, entries in groups.items():
                bits = len(table).bit_length() - 1
                at = c * 0x9E3779B97F4A7C15 % 2**64 >> 64 - bits
                while table[at].at is not None:
                    at = (at + 1) % len(table)
                table[at] = slot.below(c, entries)
            out += table
            pos.append(len(out))
        self.add("positions", l, pos)
        self.add("coordinates", l, [EMPTY if slot.at is None else slot.at[-1] for slot in out])
        return out

    def declared(self, l, slots):
        declaration, n = self.levels[l].declaration, self.size(l)
        groups = [self.groups(slot, l) for slot in slots]
        occur = sorted({c for group in groups for c in group})
        asked = {"count": lambda g: len(g), "max": lambda g: max(g, default=-1), "min": lambda g: min(g, default=0)}
        answers = {name: [asked[kind](g) for g in groups] for name, kind in declaration.queries.items() if kind != "id"}
        # Of all parents the largest; what one without coordinates answers where there are none.
        largest = {name: max(of, default=asked[declaration.queries[name]]({})) for name, of in answers.items()}
        known = Known(N=n, used=occur, largest=largest, **answers)
        if declaration.size:
            known["K"] = known(declaration.size)
            self.require_size(l, known["K"])
            self.add("sizes", l, [known["K"]])
        if declaration.edges:
            pos = known["pos"] = [0]
            for p in range(len(slots)):
                self.require_size(l, length := known(declaration.edges, p=p))
                self.allow(pos[-1] + length)
                pos.append(pos[-1] + length)
            self.add("positions", l, pos)
        if declaration.crd:
            index, value = declaration.crd
            if index == "p":
                known["crd"] = [known(value, p=p) for p in range(len(slots))]
            elif index == "k":
                known["crd"] = [known(value, k=k) for k in range(known["K"])]
        out, own = [], declaration.crd[:1] == ("q",)
        for p, (slot, group) in enumerate(zip(slots, groups)):
            begin, end = (known(side, p=p) for side in declaration.positions)
            assert begin == len(out), f"positions of parent {p} begin at {begin}"
            self.allow(end)
            self.require_size(l, end - begin)
            at = {}
            for c in group:
                q = begin + len(at) if declaration.insert is None else known(declaration.insert, p=p, c=c)
                if not begin <= q < end:
                    raise Refused(f"level {l}: coordinate {c} below parent {p} has position {q}, not of {begin}..{end}")
                if not own and known(declaration.coordinate, p=p, q=q) != c:
                    raise Refused(f"level {l}: position {q} reads another coordinate than {c}")
                at[q] = c
            coords = [at.get(q) if own else known(declaration.coordinate, p=p, q=q) for q in range(begin, end)]
            if None in coords and not declaration.padded:
                raise Refused(f"level {l}: a position below parent {p} has no entry")
            if not own and (coords != sorted(set(coords)) or any(not 0 <= c < n for c in coords)):
                raise Refused(f"level {l}: coordinates {coords} below parent {p}")
            out += [slot.below(c, group.get(c, [])) for c in coords]
        if declaration.crd:
            self.add("coordinates", l, [EMPTY if s.at is None else s.at[-1] for s in out] if own else known["crd"])
        return out

    @staticmethod
    def require_size(l, size):
        if size < 0:
            raise Refused(f"level {l}: a size of {size}")

    def check_widths(self):
        for kind, width in (("positions", self.encoding.pos_width), ("coordinates", self.encoding.crd_width)):
            for field in self.fields:
                if field.kind == kind and width and max(field.data, default=0) >= 1 << width:
                    raise Refused(f"{kind} {max(field.data)} of level {field.level} does not fit {width} bits")


def store(dims, stored, encoding, most=math.inf):
    """The storage of `stored`, {coordinates: value}, explicit zeros and all; TooLarge where a level has more than `most` slots."""
    return Builder(dims, stored, encoding, most).run()


def converted(stored, source, target):
    """What a conversion stores: what is stored stays stored, but a dense source leaves out what equals the fill."""
    if source.is_dense and not target.is_dense:
        return {at: value for at, value in stored.items() if value != target.fill}
    return stored
