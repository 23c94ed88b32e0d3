#!/usr/bin/python3
"""Checks the files that `tulle bench all --json FOLDER/report.json --write FOLDER` left: every kernel ran, its answer was compared,
and the plot is XML.

usage: check.py FOLDER
"""
import json
import pathlib
import sys
import xml.etree.ElementTree

KERNELS = ["SpMV CSR", "SpMV CSC", "SpMV COO-soa", "SpMV DCSR", "SpMV BCSR(4,4)", "SpMV ELL", "SpMV SELL(8,64)", "SpMM 4", "SpMM 32",
           "SpMM 128", "SpMV hyb(1,3)", "SpMM 32 hyb(1,3)", "SDDMM 64", "2:4 SpMM 32", "2:4 SpMM 128", "dot 1:1", "dot 1:1000", "MTTKRP 32", "TTV", "TTM 8", "A + B",
           "A * A", "masked A * A", "COO->CSR sorted", "COO->CSR shuffled", "CSR->CSC", "CSR->ELL", "CSR->BCSR(4,4)"]
PROGRAMS = ["softmax", "attention 64", "FusedMM 64", "GCN 64", "GraphSAGE 64", "RGMS 64", "CG step", "PageRank step", "ragged product",
            "DBSR SpMM 128", "BSR SDDMM 64"]
KERNELS += ["gather f32", "gather rows 64 f32", "scatter-add f32", "scatter-add rows 64 f32", "messages 64 f32", "hstack f32", "vstack f32",
            "block_diag f32", "convolution 64 f32", "convolution 128 f32", "voxel convolution 32 f32", "sums of rows f32",
            "maxima of rows f32", "squares in rows f32", "tiles of 64 f32", "tiles of 5 f32"]
KERNELS += PROGRAMS + [f"{name} f32" for name in PROGRAMS]
SEVERAL = [*PROGRAMS[:8], "messages 64", "tiles of 64", "tiles of 5"]  # statements
COMPILATIONS = ["compile CSR", "compile COO-soa", "compile BCSR(4,4)", "from disk cache", "from memory cache", "empty call"]

folder = pathlib.Path(sys.argv[1])
rows = json.loads((folder / "report.json").read_text())["rows"]
markdown = (folder / "performance.md").read_text()
wrong = []
for threads in 1, 2:
    here = {row["kernel"]: row for row in rows if row["threads"] == threads}
    for name in KERNELS + (COMPILATIONS if threads == 1 else []):
        row = here.get(name)
        if row is None or "tulle" not in row["times"]:
            wrong.append(f"{name}, {threads} threads: {row and row['absent'].get('tulle')}")
        elif name in KERNELS and "tulle" not in row["compared"]:
            wrong.append(f"{name}, {threads} threads: not compared")
        elif name.removesuffix(" f32") in SEVERAL and "unfused" not in row["compared"]:
            wrong.append(f"{name}, {threads} threads: not compared with a kernel for each statement")
        elif f"| {name} |" not in markdown:
            wrong.append(f"{name} is not in performance.md")
for row in rows:
    for peer, why in row["absent"].items():
        if "reference" in why:
            wrong.append(f"{row['kernel']}, {row['input']}: {peer}: {why}")
widths = {line.count("|") for line in markdown.split("## Targets")[1].split("##")[0].splitlines() if line.startswith("|")}
if len(widths) != 1:
    wrong.append("the rows of the table of targets differ in length")
first = [line.split("|") for line in markdown.split("## ")[0].splitlines() if line.startswith("|")]
if len(first) != 12 or len({len(cells) for cells in first}) != 1:
    wrong.append(f"the first table has {len(first) - 2} kernels, not ten of the same columns")
for cells in first[2:]:
    if cells[5].strip() == "–":
        wrong.append(f"{cells[2].strip()} has no ratio in the first table")
xml.etree.ElementTree.parse(folder / "performance.svg")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
