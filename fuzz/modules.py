#!/usr/bin/python3
"""Takes files of MLIR apart: a file for each function, with what stands before all functions. usage: modules.py OUT FOLDER..."""
import hashlib
import pathlib
import re
import sys


def modules(text):
    """Each function, with the aliases and declarations of its part of the file."""
    for part in re.split(r"^// -----.*\n", text, flags=re.M):
        part = re.sub(r"^\s*//.*\n", "", part, flags=re.M)
        aliases = re.findall(r"^#\w+ = .*\n(?:.*\n)*?(?=^(?:#|!|func|module|\s*func|\}|$))", part, re.M)
        shared = "".join(aliases) + "".join(re.findall(r"^\s*func\.func private .*\n", part, re.M))
        for function in re.findall(r"^(\s*)(func\.func (?!private).*\n(?:.*\n)*?\1\}\n)", part, re.M):
            yield shared + function[1]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for folder in sys.argv[2:]:
        for file in sorted(pathlib.Path(folder).rglob("*.mlir")):
            for module in modules(file.read_text()):
                (out / hashlib.sha1(module.encode()).hexdigest()[:16]).write_text(module)


main()
