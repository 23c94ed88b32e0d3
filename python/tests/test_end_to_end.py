"""The programs of test/end_to_end, whose answers are NumPy's and SciPy's, through the package."""

import pathlib
import sys

import numpy as np
import pytest
import tulle as tl

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "test/end_to_end"
EVERY = 9  # no multiple of two: every eighth is made in another way


def _options(case):
    """What the options of a case are here; None for those of the command line alone."""
    formats, options, left = {}, {}, list(case.options)
    while left:
        option = left.pop(0)
        if option == "-f":
            name, _, format = left.pop(0).partition("=")
            formats[name] = format
        elif option == "--threads":
            options["threads"] = int(left.pop(0))
        elif option == "--strict-fp":
            options["strict_fp"] = True
        elif option == "--deterministic":
            options["deterministic"] = True
        elif option == "--schedule":
            options["schedule"] = left.pop(0)
        else:
            return None
    return formats, options


def test_programs(tmp_path):
    sys.path.insert(0, str(FOLDER))
    try:
        import cases
    finally:
        sys.path.remove(str(FOLDER))
    ran, wrong = 0, []
    for case in list(cases.small(cases.Maker(tmp_path)))[::EVERY]:
        options = _options(case)
        if options is None:
            continue
        formats, options = options
        result = case.output.name.split("-")[0]
        if not all(isinstance(file, pathlib.Path) for file, _ in case.inputs.values()):
            continue  # generators
        if case.result_format:
            formats[result] = case.result_format
        try:
            inputs = {name: tl.load(file, format=format or "dense") for name, (file, format) in case.inputs.items()}
            got = tl.run(case.program, tensors=inputs, formats=formats, **options)[result]
            got = got.todense() if isinstance(got, tl.Tensor) else got
            np.testing.assert_allclose(got, case.want, rtol=0,
                                       atol=case.tolerance * max(1, np.abs(case.want).max(initial=0)))
            ran += 1
        except Exception as error:
            wrong.append(f"{case.name}: {case.program}: {error}")
    assert not wrong, "\n".join(wrong)
    assert ran > 40
