"""What a program needs of each operand where its rows are in partitions."""

import dataclasses
import re

from .._errors import TulleError

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclasses.dataclass
class Roles:
    """What partitions do with tensors and dimensions.

    rows: tensors of which a partition has its own rows, and no others.
    sliced: (tensor, axis) of operands of which it has what its rows say, along another dimension than the first.
    shared: operands that it needs rows of which are other partitions', or of no partition.
    totals: results to which all partitions contribute, with how.
    restricted: for (tensor, axis) of shared operands of which some coordinates matter only, the (operand, axis) in
        partitions that stores something at these.
    """

    rows: set
    sliced: dict
    shared: set
    totals: dict
    restricted: dict


def roles_of(kernel, partitioned) -> Roles:
    """The roles of a program's tensors; `partitioned` are operands in partitions of rows, the one that says the
    bounds first. Raises TulleError for what cannot be computed that way."""
    statements = kernel._statements
    if any(statement.in_loop for statement in statements):
        raise TulleError("a loop (repeat) runs on one machine: write it in Python, around the statements of a round")
    return _Analysis(statements, list(partitioned)).roles()


class _Analysis:
    def __init__(self, statements, partitioned):
        self.statements, self.partitioned = statements, partitioned
        self.rows, self.shared, self.sliced, self.totals = set(), set(), {}, {}
        self.alike = set()  # computed in each partition, with the same values
        self.written = {}

    def roles(self) -> Roles:
        self._follow()
        self.row_index = [self._statement(statement) for statement in self.statements]
        for name in sorted((self.rows | self.shared | set(self.sliced)) - set(self.written)):
            if (name in self.rows) + (name in self.shared) + (name in self.sliced) > 1:
                raise TulleError(f"'{name}' is read by the rows of each partition, and by others: give it under two names")
        return Roles(self.rows, self.sliced, self.shared - set(self.written), self.totals, self._restricted())

    def _follow(self) -> None:
        """All tensors that are read or written by the rows of partitions, whatever the order of statements."""
        while True:
            before = len(self.rows)
            for statement in self.statements:
                index = self._rows_index(statement)
                self.rows.update(access.tensor for access in [statement.result, *statement.operands]
                                 if index and access.subscripts[:1] == [index])
            if len(self.rows) == before:
                return

    def _statement(self, statement) -> str | None:
        """The index that counts the rows of partitions in a statement; the statement's tensors get their roles."""
        index = self._rows_index(statement)
        result = statement.result
        for name in self.totals:
            if any(operand.tensor == name for operand in statement.operands) or result.tensor == name:
                raise TulleError(f"'{name}' is known when all partitions have contributed; compute what reads it in an "
                                 "einsum of its own")
        if index in statement.index_values:
            raise TulleError(f"the value of {index}, which counts the rows of partitions, is not known in a partition")
        for operand in statement.operands:
            self._operand(operand, index)
        if index is None:
            self.alike.add(result.tensor)
        elif result.subscripts[:1] == [index]:
            pass  # it has rows of its own
        elif not statement.reduction or statement.accumulates or index in _names(result):
            raise TulleError(f"'{result.tensor}' does not follow the rows of {self._driver(statement)}, and is no "
                             f"reduction of them")
        else:
            self.totals[result.tensor] = statement.reduction
        self.written.setdefault(result.tensor, statement)
        return index

    def _driver(self, statement) -> str:
        return next(operand.tensor for operand in statement.operands if operand.tensor in {*self.partitioned, *self.rows})

    def _rows_index(self, statement) -> str | None:
        def firsts(names, accesses):
            return [access.subscripts[0] for access in accesses
                    if access.tensor in names and access.subscripts and _NAME.fullmatch(access.subscripts[0])]

        result = [statement.result]
        of_operands = firsts(self.rows, statement.operands) + firsts(self.partitioned, statement.operands)
        followed = firsts(self.rows, result) + [first for first in statement.result.subscripts[:1] if first in of_operands]
        return next(iter(followed + of_operands), None)

    def _operand(self, operand, index) -> None:
        name, subscripts = operand.tensor, operand.subscripts
        if index is None or index not in _names(operand):
            if name in self.rows and name in self.written:
                raise TulleError(f"'{name}' is computed row by row, but read at other rows; compute what reads it in an "
                                 "einsum of its own")
            if name not in self.alike:
                self.shared.add(name)
            return
        axes = [axis for axis, subscript in enumerate(subscripts) if subscript == index]
        if len(axes) != 1 or sum(index in _NAME.findall(subscript) for subscript in subscripts) != 1:
            raise TulleError(f"'{name}' is read at ({','.join(subscripts)}): {index} counts the rows of partitions, and "
                             "may stand once there, alone")
        if axes == [0]:
            return
        if name in self.partitioned or name in self.written:
            raise TulleError(f"'{name}' is in partitions of rows, but {index} counts its dimension {axes[0]}; give it "
                             "transposed, or whole")
        if self.sliced.setdefault(name, axes[0]) != axes[0]:
            raise TulleError(f"'{name}' is read by the rows of each partition along two dimensions: give it under two names")

    # What is needed of operands that partitions share.

    def _restricted(self) -> dict:
        found = {}
        for name in self.shared - set(self.written):
            reads = [(statement, rows, operand) for statement, rows in zip(self.statements, self.row_index)
                     for operand in statement.operands if operand.tensor == name]
            for axis in range(len(reads[0][2].subscripts)):
                sources = set.intersection(*(self._sources(statement, rows, operand.subscripts[axis])
                                             for statement, rows, operand in reads))
                if sources:
                    found[name, axis] = min(sources)
        return found

    def _sources(self, statement, rows, index: str) -> set:
        """The dimensions of operands in partitions whose coordinates are all that matter of an index."""
        return {self._origin(operand.tensor, axis) for operand in statement.operands
                for axis, subscript in enumerate(operand.subscripts)
                if operand.restricts and subscript == index and operand.subscripts[0] == rows} - {None}

    def _origin(self, tensor: str, axis: int):
        """The operand in partitions that stores all that the tensor does."""
        while tensor in self.written:
            tensor = self.written[tensor].pattern
        return (tensor, axis) if tensor in self.partitioned and tensor in self.rows else None


def _names(access) -> set:
    return {name for subscript in access.subscripts for name in _NAME.findall(subscript)}

