"""Puts entries in order: what other packages leave unsorted or store twice, Tulle's formats do not."""

import warnings

import numpy as np

from ._errors import CopyWarning, TulleError


def warn_of_copy(what: str, copy, error) -> None:
    """Says that `what`, which cannot be borrowed because of the error, is put in order in a copy; raises where the
    caller allows none."""
    if copy is False:
        raise TulleError(f"asarray: {error}; sorting it needs a copy, but copy=False was given") from None
    warnings.warn(f"{what}: sorted and summed in a copy", CopyWarning, stacklevel=4)


def in_order(keys, values):
    """A copy of entries, sorted by their keys, those of equal keys summed.

    Parameters
    ----------
    keys : list of integer arrays of one length, the most significant first
    values : array, whose first dimension is as long

    Returns
    -------
    The keys and the values.
    """
    order = np.lexsort(tuple(reversed(keys)))
    keys, values = [key[order] for key in keys], values[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    if starts.all():
        return keys, values
    add = np.logical_or if values.dtype == np.bool_ else np.add
    return [key[starts] for key in keys], add.reduceat(values, np.flatnonzero(starts), axis=0)


def segments_in_order(starts, coordinates, values, size: int):
    """The same for entries of rows, of which row r has [starts[r], starts[r + 1]): starts, coordinates and values.

    None where the starts are none, or a coordinate lies beyond the size.
    """
    counts = np.diff(starts)
    if len(starts) == 0 or starts[0] != 0 or np.any(counts < 0) or starts[-1] != len(coordinates):
        return None
    if np.any(coordinates < 0) or np.any(coordinates >= size):
        return None
    rows = np.repeat(np.arange(len(counts)), counts)
    (rows, sorted_coordinates), values = in_order([rows, coordinates], values)
    ends = np.cumsum(np.bincount(rows, minlength=len(counts)))
    return np.concatenate(([0], ends)).astype(starts.dtype), sorted_coordinates, values
