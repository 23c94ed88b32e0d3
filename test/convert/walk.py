"""What the storage of model.py holds: the entries of its buffers, in storage order."""
import model


def strides(expr):
    """{dimension: stride} of `i * 16 + j`; {} of what is no sum of products."""
    if expr[0] == "dim":
        return {expr[1]: 1}
    if expr[0] == "*" and expr[1][0] == "dim" and expr[2][0] == "const":
        return {expr[1][1]: expr[2][1]}
    if expr[0] in ("+", "|"):
        return strides(expr[1]) | strides(expr[2])
    return {expr[1][1]: 1 << expr[2][1]} if expr[0] == "shl" and expr[1][0] == "dim" else {}


def deinterleave(code, d, order):
    return sum((code >> k * order + order - 1 - d & 1) << k for k in range(16))


def inverse(storage, at):
    """Dimension coordinates of level coordinates."""
    levels, order = storage.encoding.levels, len(storage.dims)
    out = []
    for d in range(order):
        total, rank = 0, {}
        for level, c in zip(levels, at):
            expr, found = level.expr, model.digit(level.expr)
            if found and found[0] == d:
                total += c * found[1]
            elif expr[0] in ("+", "|") and d in strides(expr):
                of = strides(expr)
                larger = [s for s in of.values() if s > of[d]]
                total += (c % min(larger) if larger else c) // of[d]
            elif expr[0] == "morton":
                total += deinterleave(c, d, order) << expr[1][2][1]
            else:
                for part in model.parts(expr):
                    if part[0] == "rank" and part[1] == d:
                        rank[expr[0]] = (c, expr[2][1] if expr[0] in ("floordiv", "mod") else 1)
        if rank:
            r = rank["rank"][0] if "rank" in rank else rank["floordiv"][0] * rank["floordiv"][1] + rank["mod"][0]
            permutation = next(f.data for f in storage.fields if f.kind == "permutation")
            if r >= len(permutation):
                return None
            total = permutation[r]
        out.append(total)
    return tuple(out)


def largest_coordinate(storage):
    """What sizes allow: a code that interleaves bits is largest, up to its highest bit, at the last corner."""
    corner = tuple(max(n - 1, 0) for n in storage.dims)
    codes = [model.evaluate(level.expr, corner, {}) for level in storage.encoding.levels if level.expr[0] == "morton"]
    return max([*corner, *codes])


def children(storage, l, p, at, sizes):
    """(position, coordinate or None) of every slot below position p."""
    level = storage.encoding.levels[l]
    kind = level.kind
    pos, crd, size = (storage.field(k, l) for k in ("positions", "coordinates", "sizes"))
    n = size[0] if size else sizes[l]
    stored = lambda q: None if crd[q] == model.EMPTY else crd[q]
    if kind in ("dense", "batch"):
        return [(p * n + c, c) for c in range(n)]
    if kind == "bitmap":
        bits = storage.field("bits", l)
        return [(p * n + c, c if bits[p * n + c] else None) for c in range(n)]
    if kind == "offset":
        if at is None:
            return [(p, None)]
        d, c = model.offset_coordinate(storage.encoding.levels, l, at)
        return [(p, c if 0 <= c < storage.dims[d] else None)]
    if kind == "ragged":
        return [(q, q - pos[p]) for q in range(pos[p], pos[p + 1])]
    if kind == "jagged":
        return [(q, q - pos[2 * p]) for q in range(pos[2 * p], pos[2 * p + 1])]
    if kind == "banded":
        return [(q, crd[p] + q - pos[p]) for q in range(pos[p], pos[p + 1])]
    if kind == "squeezed":
        return [(p * n + k, crd[k]) for k in range(n)]
    if kind == "fixed":
        n = level.integers[0] if level.integers else n
        return [(q, stored(q)) for q in range(p * n, p * n + n)]
    if kind == "declared":
        declaration = level.declaration
        known = model.Known(N=sizes[l], K=size[0] if size else None, pos=pos, crd=crd)
        begin, end = (known(side, p=p) for side in declaration.positions)
        of = lambda q: stored(q) if declaration.crd[:1] == ("q",) else known(declaration.coordinate, p=p, q=q)
        return [(q, of(q)) for q in range(begin, end)]
    if kind == "structured":
        n = level.integers[0]
        return [(q, crd[q]) for q in range(p * n, p * n + n)]
    if kind == "hashed":
        return [(q, stored(q)) for q in range(pos[p], pos[p + 1])]
    if kind == "singleton":
        start, stride = l, 1
        while crd is None:  # interleaved with the levels of its run
            start -= 1
            crd = storage.field("coordinates", start)
        if start < l:
            stride = run_length(storage.encoding.levels, start)
        c = crd[p * stride + l - start]
        return [(p, None if level.padded and c == model.EMPTY else c)]
    stride = run_length(storage.encoding.levels, l)
    if kind == "compressed":
        begin, end = (pos[p + batch_of(storage, l, at)], pos[p + batch_of(storage, l, at) + 1])
    else:
        begin, end = pos[2 * p], pos[2 * p + 1]
    return [(q, crd[q * stride]) for q in range(begin, end)]


def run_length(levels, l):
    if levels[l].unique or levels[l].kind == "singleton":
        return 1
    end = l + 1
    while end < len(levels) and levels[end].kind == "singleton" and "soa" not in levels[end].properties:
        end += 1
    return end - l


def batch_of(storage, l, at):
    b = 0
    for k, level in enumerate(storage.encoding.levels[:l]):
        if level.kind == "batch":
            b = b * model.level_size(level.expr, storage.dims, {}) + at[k]
    return b


def entries(storage):
    """(coordinates, value) of every stored slot within the dimensions, in storage order."""
    levels = storage.encoding.levels
    sizes = []
    for level in levels:
        data_dependent = level.kind not in ("dense", "batch", "bitmap", "declared") or level.expr[0] == "counter"
        sizes.append(None if data_dependent else model.level_size(level.expr, storage.dims, {}))
    values = storage.fields[-1].data

    def below(l, p, at):
        if l == len(levels):
            coords = inverse(storage, at)
            if coords and all(c < n for c, n in zip(coords, storage.dims)):
                yield coords, values[p]
            return
        for q, c in children(storage, l, p, at, sizes):
            if c is not None:
                yield from below(l + 1, q, at + (c,))

    yield from below(0, 0, ())
