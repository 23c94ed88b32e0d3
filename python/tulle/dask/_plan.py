"""What is communicated and held, said before anything is computed."""

import dataclasses

import numpy as np

_SHOWN = 16  # partitions


def _of(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000


@dataclasses.dataclass
class Plan:
    """What each partition of an einsum receives and holds. Arrays have an element for each partition.

    Attributes
    ----------
    rows, entries : arrays of int
        Of the operand that says the partitions.
    own_bytes : array of int
        Of the operands' rows that are its own: of entries and coordinates, without what a format pads.
    received : dict of str to array of int
        By operand, the bytes that come from other partitions, or from the caller.
    broadcast : dict of str to int
        By operand, the bytes that each partition would receive of it as a whole.
    result_bytes : array of int
        Of results; of sparse ones as many as their pattern's operand has, 0 where that is not known.
    code_bytes : int
        Of the object code, which each worker gets once.
    """

    program: str
    rows: np.ndarray
    entries: np.ndarray
    own_bytes: np.ndarray
    received: dict
    broadcast: dict
    result_bytes: np.ndarray
    code_bytes: int

    @property
    def npartitions(self) -> int:
        return len(self.rows)

    @property
    def imbalance(self) -> float:
        """Stored entries of the largest partition over the mean."""
        return float(self.entries.max() / self.entries.mean()) if self.entries.sum() else 1.0

    @property
    def bytes(self) -> np.ndarray:
        """Received bytes of each partition."""
        return sum(self.received.values(), np.zeros(self.npartitions, dtype=np.int64))

    @property
    def memory(self) -> np.ndarray:
        """Bytes that a partition's task holds: its rows, what it receives, and its results."""
        return self.own_bytes + self.bytes + self.result_bytes

    def __str__(self) -> str:
        total, whole = int(self.bytes.sum()), sum(self.broadcast.values()) * self.npartitions
        lines = [self.program.strip(),
                 f"{self.npartitions} partitions of {int(self.rows.sum())} rows with {int(self.entries.sum())} stored entries; "
                 f"the largest has {self.imbalance:.2f} of the mean"]
        for name, received in self.received.items():
            lines.append(f"  {name}: {_of(received.sum())} to all partitions, {_of(received.max())} at most to one; "
                         f"{_of(self.broadcast[name])} as a whole")
        lines.append(f"communicated: {_of(total)}" + (f", {total / whole:.0%} of sending all to all" if whole else "") +
                     f"; object code {_of(self.code_bytes)} to each worker")
        lines.append(f"memory of a partition: {_of(self.memory.max())} at most")
        lines.append("partition       rows    entries   received     memory")
        for p in range(min(self.npartitions, _SHOWN)):
            lines.append(f"{p:9} {self.rows[p]:10} {self.entries[p]:10} {_of(self.bytes[p]):>10} {_of(self.memory[p]):>10}")
        if self.npartitions > _SHOWN:
            lines.append(f"and {self.npartitions - _SHOWN} more")
        return "\n".join(lines)

    __repr__ = __str__
