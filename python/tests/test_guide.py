"""What the guide shows is what comes out."""

import doctest
import pathlib

import pytest

GUIDES = sorted((pathlib.Path(__file__).resolve().parents[2] / "docs/guide").glob("*python*.md"))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_snippets(guide, monkeypatch):
    monkeypatch.chdir(guide.parents[2])
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, run = doctest.testfile(str(guide), module_relative=False, optionflags=flags)
    assert run > 0 and not failed
