"""The exceptions that Tulle raises."""

import re

from . import _core

_PLACE = re.compile(r"^[^\n]*?:(\d+):(\d+): error: ([^\n]*)")


class TulleError(ValueError):
    """What the caller passed is wrong: a text, a format, an array, a file.

    ``str(error)`` is the whole message, with the line and a caret where a text is wrong.
    """

    def _place(self):
        return _PLACE.match(str(self))

    @property
    def message(self) -> str:
        """The message alone: one line, without the place and the picture of it."""
        place = self._place()
        return place.group(3) if place else str(self)

    @property
    def line(self) -> int | None:
        """The line of the text that is wrong, counted from 1; None where no text is."""
        place = self._place()
        return int(place.group(1)) if place else None

    @property
    def column(self) -> int | None:
        """The column there, counted from 1; None where no text is wrong."""
        place = self._place()
        return int(place.group(2)) if place else None


class DenseResultError(TulleError, TypeError):
    """A result of sparse tensors would be dense: it is not 0 where nothing is stored. Also a TypeError, as
    NumPy's and Python's protocols have it for operands that an operation is not for."""


class CopyWarning(UserWarning):
    """An array was copied because it is not as Tulle stores it (unsorted, or with duplicates)."""


_core.register_error(TulleError)
