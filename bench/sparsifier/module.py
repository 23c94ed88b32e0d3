"""MLIR modules that time one kernel: inputs of a given number of entries, the kernel, and a loop around its call.

A kernel is given by subscripts, as for an einsum, the storage of each tensor and the body of a linalg.generic.
"""
from dataclasses import dataclass, field
from string import Template

#: What stands for storage in the text of a kernel. The dimensions of order 3 are i, j, k.
ENCODINGS = {
    "coo": "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "coo_soa": "(i, j) -> (i : compressed(nonunique), j : singleton(soa))",
    "csr": "(i, j) -> (i : dense, j : compressed)",
    "csc": "(i, j) -> (j : dense, i : compressed)",
    "dcsr": "(i, j) -> (i : compressed, j : compressed)",
    "dcsc": "(i, j) -> (j : compressed, i : compressed)",
    "cd": "(i, j) -> (i : compressed, j : dense)",
    "bsr": "(i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    "bcsc": "(i, j) -> (j floordiv 2 : dense, i floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    "nv24": "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
    "vector": "(i) -> (i : compressed)",
    "coo3": "(i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)",
    "csf": "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
    "csf_kij": "(i, j, k) -> (k : compressed, i : compressed, j : compressed)",
    "ddc": "(i, j, k) -> (i : dense, j : dense, k : compressed)",
    "dcc": "(i, j, k) -> (i : dense, j : compressed, k : compressed)",
}

MULTIPLY = "mul"

#: A call whose result is only freed would be none.
APART = 'attributes {passthrough = ["noinline"]}'


@dataclass(frozen=True)
class Kernel:
    """`subscripts` as `ij,j->i`; `formats` names the storage of each operand and of the result, or `dense`.

    `body` is what a linalg.generic yields, over %a, %b, … and the result's element %out; `mul` stands for
    %out + the product of the operands. `entries` of each row (fiber, vector) are stored.
    """
    name: str
    subscripts: str
    formats: str
    sizes: dict
    body: str = MULTIPLY
    entries: int = 16
    type: str = "f64"
    result_type: str = ""
    width: int = 0  #: of coordinates and positions, in bits; 0: of an index
    op: str = ""    #: the text of the kernel, where it is no linalg.generic

    @property
    def terms(self):
        operands, result = self.subscripts.split("->")
        return operands.split(","), result

    @property
    def stored(self):
        operands, result = self.formats.split("->")
        return operands.split(","), result

    @property
    def out(self):
        return self.result_type or self.type


def encoding_of(kernel, name):
    if name == "dense":
        return ""
    width = f", posWidth = {kernel.width}, crdWidth = {kernel.width}" if kernel.width else ""
    return f", #sparse_tensor.encoding<{{ map = {ENCODINGS[name]}{width} }}>"


def tensor_type(kernel, letters, name, element):
    sizes = "x".join([str(kernel.sizes[c]) for c in letters] + [element])
    return f"tensor<{sizes}{encoding_of(kernel, name)}>"


def is_float(element):
    return element.startswith("f")


def number(element, text):
    """A constant as MLIR writes it for the type."""
    return f"{float(text)}" if is_float(element) else str(int(float(text)))


# Inputs

def element_of(index, element):
    """Ops that make the element %value of the entry with a number: small multiples of a quarter, exact in
    sums, and never zero."""
    if is_float(element):
        make = f"""%q = arith.sitofp %w : i64 to {element}
    %quarter = arith.constant 0.25 : {element}
    %value = arith.mulf %q, %quarter : {element}"""
    else:
        make = f"%value = arith.trunci %w : i64 to {element}"
    return f"""%c7 = arith.constant 7 : index
    %c13 = arith.constant 13 : index
    %t = arith.muli {index}, %c7 : index
    %u = arith.remui %t, %c13 : index
    %v = arith.index_cast %u : index to i64
    %c1 = arith.constant 1 : i64
    %w = arith.addi %v, %c1 : i64
    {make}"""


def dense_input(kernel, letters, element):
    """The body of a function that makes a dense operand."""
    type = tensor_type(kernel, letters, "dense", element)
    dims = ", ".join(f"%d{k} : index" for k in range(1, len(letters) + 1))
    flat = "%0"
    ops = ["%0 = arith.constant 0 : index"]
    for step, c in enumerate(letters, 1):
        ops += [f"%n{step} = arith.constant {kernel.sizes[c]} : index",
                f"%m{step} = arith.muli {flat}, %n{step} : index",
                f"%f{step} = arith.addi %m{step}, %d{step} : index"]
        flat = f"%f{step}"
    body = "\n    ".join(ops)
    return type, f"""  %made = tensor.generate {{
  ^bb0({dims}):
    {body}
    {element_of(flat, element)}
    tensor.yield %value : {element}
  }} : {type}
  return %made : {type}"""


def coordinate(kernel, letters):
    """Ops that choose dimension %d of the coordinates of an entry with the number of its %fiber and its %last
    coordinate, and the value that they choose: the number's digits are the dimensions but the last."""
    digits, rest = [], "%fiber"
    for d in reversed(range(len(letters) - 1)):
        digits.append(f"%size{d} = arith.constant {kernel.sizes[letters[d]]} : index\n"
                      f"    %digit{d} = arith.remui {rest}, %size{d} : index\n"
                      f"    %rest{d} = arith.divui {rest}, %size{d} : index")
        rest = f"%rest{d}"
    choose, chosen = [], "%last"
    for d in range(len(letters) - 1):
        choose.append(f"%c_{d} = arith.constant {d} : index\n"
                      f"    %is{d} = arith.cmpi eq, %d, %c_{d} : index\n"
                      f"    %pick{d} = arith.select %is{d}, %digit{d}, {chosen} : index")
        chosen = f"%pick{d}"
    return "\n    ".join(digits + choose), chosen


def sparse_input(kernel, letters, name, element, seed):
    """The body of a function that makes a sparse operand: as many entries in each fiber of the last dimension,
    at equal distances but for a number that a hash gives."""
    fibers = 1
    for c in letters[:-1]:
        fibers *= kernel.sizes[c]
    per, last = min(kernel.entries, kernel.sizes[letters[-1]]), kernel.sizes[letters[-1]]
    count, rank, stride = fibers * per, len(letters), last // per
    coo = f"tensor<{'x'.join(str(kernel.sizes[c]) for c in letters)}x{element}, #sparse_tensor.encoding<{{ map = " + {
        1: "(i) -> (i : compressed)", 2: ENCODINGS["coo"], 3: ENCODINGS["coo3"]}[rank] + " }>>"
    result = tensor_type(kernel, letters, name, element)
    coordinates = f"{count}x{rank}" if rank > 1 else f"{count}"
    place = "%e : index, %d : index" if rank > 1 else "%e : index"
    lines, chosen = coordinate(kernel, letters)
    made = f"""  %made = sparse_tensor.convert %list : {coo} to {result}
  bufferization.dealloc_tensor %list : {coo}
  return %made : {result}""" if coo != result else f"  return %list : {coo}"
    return result, f"""  %positions = arith.constant dense<[0, {count}]> : tensor<2xindex>
  %coordinates = tensor.generate {{
  ^bb0({place}):
    %per = arith.constant {per} : index
    %stride = arith.constant {stride} : index
    %prime = arith.constant {2654435761 + 2 * seed} : index
    %mask = arith.constant 4294967295 : index
    %c15 = arith.constant 15 : index
    %fiber = arith.divui %e, %per : index
    %k = arith.remui %e, %per : index
    %mixed = arith.muli %e, %prime : index
    %low = arith.andi %mixed, %mask : index
    %high = arith.shrui %low, %c15 : index
    %jitter = arith.remui %high, %stride : index
    %begin = arith.muli %k, %stride : index
    %last = arith.addi %begin, %jitter : index
    {lines}
    tensor.yield {chosen} : index
  }} : tensor<{coordinates}xindex>
  %values = tensor.generate {{
  ^bb0(%e : index):
    {element_of("%e", element)}
    tensor.yield %value : {element}
  }} : tensor<{count}x{element}>
  %list = sparse_tensor.assemble (%positions, %coordinates), %values : (tensor<2xindex>, tensor<{coordinates}xindex>), tensor<{count}x{element}> to {coo}
{made}"""


# The kernel

def body_of(kernel, count):
    if kernel.body != MULTIPLY:
        return kernel.body
    mul, add = ("arith.mulf", "arith.addf") if is_float(kernel.out) else ("arith.muli", "arith.addi")
    lines, product = [], "%a"
    for k in range(1, count):
        lines.append(f"%p{k} = {mul} {product}, %{'abcdef'[k]} : {kernel.out}")
        product = f"%p{k}"
    return "\n    ".join(lines + [f"%sum = {add} %out, {product} : {kernel.out}",
                                  f"linalg.yield %sum : {kernel.out}"])


def dimensions(term):
    """The letters of a term; between underscores, sums of them: `i+k_j+l`."""
    return term.split("_") if "_" in term else list(term)


def kernel_function(kernel, types, result):
    operands, out = kernel.terms
    names = [f"%arg{k}" for k in range(len(types))]
    signature = ", ".join(f"{name} : {type}" for name, type in zip(names, types))
    if kernel.op:
        return f"func.func @kernel({signature}) -> {result} {APART} {{\n{kernel.op.format(*types, result=result)}\n}}"
    letters = sorted({c for term in operands + [out] for c in term if c.isalpha()})
    maps = ", ".join(f"affine_map<({', '.join(letters)}) -> ({', '.join(dimensions(t))})>" for t in operands + [out])
    kinds = ", ".join('"parallel"' if c in out else '"reduction"' for c in letters)
    elements = ", ".join(f"%{'abcdef'[k]} : {kernel.type}" for k in range(len(types)))
    if kernel.stored[1] == "dense":
        zero = number(kernel.out, "0")
        start = f"""  %zero = arith.constant {zero} : {kernel.out}
  %empty = tensor.empty() : {result}
  %start = linalg.fill ins(%zero : {kernel.out}) outs(%empty : {result}) -> {result}"""
    else:
        start = f"  %start = tensor.empty() : {result}"
    return f"""func.func @kernel({signature}) -> {result} {APART} {{
{start}
  %result = linalg.generic {{ indexing_maps = [{maps}], iterator_types = [{kinds}] }}
    ins({', '.join(names)} : {', '.join(types)}) outs(%start : {result}) {{
  ^bb0({elements}, %out : {kernel.out}):
    {body_of(kernel, len(types))}
  }} -> {result}
  return %result : {result}
}}"""


def check_function(kernel, letters, name, type):
    """The sum of the result, which two compilers must agree on."""
    add = "arith.addf" if is_float(kernel.out) else "arith.addi"
    if not letters:
        return f"""func.func @check(%r : {type}) -> {kernel.out} {{
  %sum = tensor.extract %r[] : {type}
  return %sum : {kernel.out}
}}"""
    dims = ", ".join(letters)
    kinds = ", ".join('"reduction"' for _ in letters)
    return f"""func.func @check(%r : {type}) -> {kernel.out} {{
  %zero = arith.constant dense<{number(kernel.out, "0")}> : tensor<{kernel.out}>
  %sum = linalg.generic {{ indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ()>],
                          iterator_types = [{kinds}] }}
    ins(%r : {type}) outs(%zero : tensor<{kernel.out}>) {{
  ^bb0(%a : {kernel.out}, %out : {kernel.out}):
    %s = {add} %out, %a : {kernel.out}
    linalg.yield %s : {kernel.out}
  }} -> tensor<{kernel.out}>
  %element = tensor.extract %sum[] : tensor<{kernel.out}>
  return %element : {kernel.out}
}}"""


MAIN = Template("""func.func private @rtclock() -> f64

func.func @main() {
$inputs
  %first = call @kernel($names) : ($types) -> $result
  %sum = call @check(%first) : ($result) -> $element
  vector.print %sum : $element
  bufferization.dealloc_tensor %first : $result
  %from = arith.constant 0 : index
  %to = arith.constant $calls : index
  %step = arith.constant 1 : index
  scf.for %call = %from to %to step %step {
    %begin = func.call @rtclock() : () -> f64
    %r = func.call @kernel($names) : ($types) -> $result
    %end = func.call @rtclock() : () -> f64
    bufferization.dealloc_tensor %r : $result
    %seconds = arith.subf %end, %begin : f64
    vector.print %seconds : f64
  }
$frees
  return
}
""")


def module(kernel, calls):
    """The text of a module whose @main prints the sum of the result, and the seconds of each call."""
    operands, out = kernel.terms
    stored, result_format = kernel.stored
    functions, types, inputs = [], [], []
    for k, (term, name) in enumerate(zip(operands, stored)):
        letters = dimensions(term)
        type, body = (dense_input(kernel, letters, kernel.type) if name == "dense"
                      else sparse_input(kernel, letters, name, kernel.type, seed=k))
        functions.append(f"func.func @input{k}() -> {type} {{\n{body}\n}}")
        inputs.append(f"  %arg{k} = call @input{k}() : () -> {type}")
        types.append(type)
    letters = dimensions(out)
    result = tensor_type(kernel, letters, result_format, kernel.out)
    functions += [kernel_function(kernel, types, result), check_function(kernel, letters, result_format, result)]
    names = ", ".join(f"%arg{k}" for k in range(len(types)))
    frees = "\n".join(f"  bufferization.dealloc_tensor %arg{k} : {type}" for k, type in enumerate(types))
    main = MAIN.substitute(inputs="\n".join(inputs), names=names, types=", ".join(types), result=result,
                           element=kernel.out, calls=calls, frees=frees)
    return "\n\n".join(functions + [main])
