"""Which optimizations the statements of the benchmarks get, by the remarks of their choices, against a table.

A canonicalization or a change of a stage may leave loops that a pass no longer matches: the answer stays, and the kernel is slower. Only
what holds for every processor is in the table; how wide vectors are is not.
"""
import subprocess
import sys

MATRIX, TENSOR = ["-d", "A=2000x2000"], ["-d", "A=2000x2000x2000"]
SPMV, SPMM = "y(i) = A(i,j) * x(j)", "C(i,k) = A(i,j) * B(j,k)"
MTTKRP = "C(i,k) = A(i,j,l) * D(j,k) * E(l,k)"
SDDMM = "S(i,j) = A(i,j) * B(i,k) * C(j,k)"

# How a remark begins, for each optimization.
REMARKS = {
    "vector": "vl=", "tile": "tiles of", "version": "row versions:", "fuse": "fusion:", "factor": "factoring:", "block": "cache blocking:",
    "pack": "packing:", "rows": "block rows:", "peel": "peeling:", "coalesce": "coalescing:", "pipeline": "software pipelining:",
}

# Name, statement or conversion, formats, sizes, optimizations.
KERNELS = [
    ("SpMV CSR", SPMV, ["A=CSR"], MATRIX, "vector"),
    ("SpMV CSC", SPMV, ["A=CSC"], MATRIX, ""),
    ("SpMV COO", SPMV, ["A=COO"], MATRIX, "vector"),
    ("SpMV DCSR", SPMV, ["A=DCSR"], MATRIX, "vector"),
    ("SpMV BCSR(4,4)", SPMV, ["A=BCSR(4,4)"], MATRIX, "rows"),
    ("SpMV ELL", SPMV, ["A=ELL"], MATRIX, "fuse tile vector"),
    ("SpMV DIA", SPMV, ["A=DIA"], MATRIX, "fuse tile vector"),
    ("SpMV SELL(8,64)", SPMV, ["A=SELL(8,64)"], MATRIX, "tile vector"),
    ("SpMM CSR", SPMM, ["A=CSR"], MATRIX, "fuse tile vector version"),
    ("SpMM CSC", SPMM, ["A=CSC"], MATRIX, ""),
    ("SpMM COO", SPMM, ["A=COO"], MATRIX, "tile vector"),
    ("SpMM DCSR", SPMM, ["A=DCSR"], MATRIX, "tile vector version"),
    ("SpMM BCSR(4,4)", SPMM, ["A=BCSR(4,4)"], MATRIX, "peel tile vector version"),
    ("SpMM ELL", SPMM, ["A=ELL"], MATRIX, "tile vector version"),
    ("SpMM DIA", SPMM, ["A=DIA"], MATRIX, "tile vector version"),
    ("SpMM SELL(8,64)", SPMM, ["A=SELL(8,64)"], MATRIX, ""),
    ("SpMM NV24", SPMM, ["A=NV24"], MATRIX, "fuse pack tile vector version"),
    ("SpMM of 8 columns", SPMM, ["A=CSR"], [*MATRIX, "-d", "B=2000x8"], "fuse tile vector"),
    ("SpMM of 8 or any columns", SPMM, ["A=CSR"], [*MATRIX, "-d", "B=2000x8", "--any-size"], "fuse tile vector version"),
    ("SDDMM CSR", SDDMM, ["A=CSR", "S=CSR"], [*MATRIX, "-d", "B=2000x64"], "vector"),
    ("MTTKRP CSF", MTTKRP, ["A=CSF"], [*TENSOR, "-d", "D=2000x32"], "block factor tile vector"),
    ("MTTKRP CSF, any rank", MTTKRP, ["A=CSF"], [*TENSOR, "-d", "D=2000x32", "--any-size"], "block factor tile vector version"),
    ("MTTKRP COO", MTTKRP, ["A=COO"], [*TENSOR, "-d", "D=2000x32"], "tile vector"),
    ("A+B CSR", "C(i,j) = A(i,j) + B(i,j)", ["A=CSR", "B=CSR", "C=CSR"], MATRIX, ""),
    ("A*A CSR", "C(i,j) = A(i,k) * A(k,j)", ["A=CSR", "C=CSR"], MATRIX, "coalesce"),
    ("dense product", SPMM, [], MATRIX, "fuse pack tile vector version"),
    ("column counts", "y(j) = A(i,j)", ["A=CSR"], MATRIX, "coalesce"),
    ("CSR->CSC", ("CSR", "CSC"), [], [], "coalesce pipeline"),
    ("COO->DIA", ("COO", "DIA"), [], [], "pipeline"),
    ("CSR->ELL", ("CSR", "ELL"), [], [], ""),
    ("CSR->BCSR(4,4)", ("CSR", "BCSR(4,4)"), [], [], "pipeline"),
    ("COO->CSR", ("COO", "CSR"), [], [], ""),
    ("CSC->CSR", ("CSC", "CSR"), [], [], "coalesce pipeline"),
]


def choices(statement, formats, sizes):
    command = ["tulle", "explain", "--stage", "vector"]
    command += ["--convert", *statement] if isinstance(statement, tuple) else [statement, *sizes]
    for text in formats:
        command += ["-f", text]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line[3:] for line in output.splitlines() if line.startswith("// ")]


def main():
    wrong = 0
    for name, statement, formats, sizes, expected in KERNELS:
        lines = choices(statement, formats, sizes)
        found = " ".join(sorted(kind for kind, begin in REMARKS.items() if any(line.startswith(begin) for line in lines)))
        if found != " ".join(sorted(expected.split())):
            print(f"{name}: expected {expected or 'none'}, got {found or 'none'}")
            wrong += 1
    print(f"{len(KERNELS)} kernels, {wrong} differ")
    return wrong > 0


sys.exit(main())
