#!/usr/bin/python3
"""Every pass has a test named like its flag, in the folder of test/ named like its folder in lib/passes, of folders in folders the outer one; and what is named `tulle-…` is a test of
that pass: `FLAG.mlir`, or `FLAG-ASPECT.mlir`.

usage: test-names.py ROOT < flags, one a line
"""
import pathlib
import re
import sys

root, flags = pathlib.Path(sys.argv[1]), sys.stdin.read().split()
names = dict((flag, name) for definitions in (root / "lib/passes").rglob("*Passes.td")
             for name, flag in re.findall(r'^def (\w+) : \w+<"(tulle-[\w-]+)"', definitions.read_text(), re.M))
folders = {}
for source in (root / "lib/passes").rglob("*.cpp"):
    for name in re.findall(r"^#define GEN_PASS_DEF_(\w+)", source.read_text(), re.M):
        folders[name] = source.relative_to(root / "lib/passes").parts[0]
tests, wrong = {flag: [] for flag in flags}, []
for test in sorted((root / "test").rglob("tulle-*")):
    tested = [flag for flag in flags if test.stem == flag or test.stem.startswith(flag + "-")]
    if not tested:
        wrong.append(f"{test.relative_to(root)} is named like a pass that does not exist")
        continue
    flag = max(tested, key=len)
    tests[flag].append(test)
    if flag in names and test.parent.name != folders[names[flag].upper()]:
        wrong.append(f"{test.relative_to(root)}: the pass is in lib/passes/{folders[names[flag].upper()]}")
wrong += [f"--{flag} is defined in no Passes.td" for flag in flags if flag not in names]
wrong += [f"--{flag} has no test of its name" for flag in flags if not tests[flag]]
print("\n".join(wrong), file=sys.stderr)
sys.exit(1 if wrong or not flags else 0)
