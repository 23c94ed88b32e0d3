// How a level is built when entries arrive in any order: by attribute queries first, then by position.
#pragma once
#include "format/LevelDeclaration.h"
#include "levels/Storage.h"

namespace tulle::levels {

/// One level in the making. The driver keeps one for each level and hands it to the level format's functions.
struct LevelBuild {
  unsigned level = 0;
  Value parents; ///< number of positions of the level above; 1 at level 0
  Value batches; ///< number of positions of the last batch level above; null without one
  /// Whether the present entry is the first occurrence of the level's coordinate (and those above); null
  /// where every entry is.
  Value firstOccurrence;
  /// The driver clears the padding, so that `size` need not clear everything.
  bool paddingIsCleared = false;
  /// Several threads query and store entries at the same time.
  bool isConcurrent = false;
  /// State of the format: the level's size where all parents have the same, its least coordinate; counters,
  /// cursors, tables.
  Value size, low, work, extra;
};

/// The tensor in the making, as level formats see it: its buffers, and who gives memory and reports errors.
class Assembly : public Emitter {
public:
  Assembly(OpBuilder &b, Location loc, Storage &storage) : Emitter(b, loc, storage), made(storage) {}
  virtual ~Assembly() = default;

  Storage &made;

  /// a * b, elements of `level`; a size that no memory holds is reported to the caller.
  virtual Value product(unsigned level, Value a, Value b) const = 0;
  /// parents * each, all positions of `level`: where they follow from that many parents, or were counted
  /// (`each` is 1). The size of what is stored for them and below them is reported to the caller where no
  /// memory holds it, before any of it is allocated.
  virtual Value positions(unsigned level, Value parents, Value each) const = 0;
  /// New memory for `count` elements of a field.
  virtual void allocate(unsigned field, Value count) const = 0;
  /// The field's buffer ends after `count` elements.
  virtual void shrink(unsigned field, Value count) const = 0;
  /// Reports a value that does not fit the field's width.
  virtual void checkWidth(unsigned field, Value value) const = 0;
  /// Reports that parent position `parent` of `level` has `found` entries, more than the `most` that it
  /// holds.
  virtual void refuseGroup(unsigned level, Value parent, Value found, Value most) const = 0;
  /// Reports what is wrong with the declaration of `level`, at parent position `parent`.
  virtual void refuseDeclared(unsigned level, format::DeclaredFault fault, Value parent,
                              Value value) const = 0;
  /// Memory that lives until the tensor is made.
  virtual Value scratch(Type element, Value count) const = 0;
  /// One index in a register, read and written at 0.
  virtual Value cell(Value initial) const = 0;

  /// Writes an index to a positions, coordinates or sizes field, checked against its width.
  void storeChecked(unsigned field, Value at, Value value) const;
  /// The buffer that holds the coordinates of the level's positions, unless a level above has it already.
  void allocateCoordinates(unsigned level, Value count) const;
  /// Writes the coordinate of a position.
  void storeCoordinate(unsigned level, Value position, Value coordinate) const;
  /// The same where several threads may write the same slot: whether it held another coordinate. A slot
  /// holds none while all its bits are set.
  Value exchangeCoordinate(unsigned level, Value position, Value coordinate) const;
  /// Fills the positions field of the level with the exclusive prefix sums of `length(parent)`; returns the
  /// total.
  Value storePositions(const LevelBuild &build, llvm::function_ref<Value(Value parent)> length) const;
  /// A sizes field of one element.
  void makeSize(unsigned level, Value size) const;
  /// A position becomes padding: its coordinate gets all bits set.
  void storePadding(unsigned level, Value position) const;
  /// All positions of a coordinates field become padding.
  void clearCoordinates(unsigned level, Value count) const;
  /// The same for the level's `count` positions, where some may be in reserve.
  void clearReserve(unsigned level, Value count) const;

  /// Elements of scratch memory are integers; these read and write them as index.
  Value read(Value buffer, Value at) const;
  void write(Value buffer, Value at, Value value) const;
  /// Elements from … to-1 become `value` (an index).
  void fill(Value buffer, Value from, Value to, Value value) const;
  /// buffer[at] += 1; returns the old value.
  Value increment(Value buffer, Value at) const;
  /// The same with the level's `work` for an entry, which is counted where it is a first occurrence. Returns
  /// its number.
  Value fetchAdd(const LevelBuild &build, Value at) const;
  /// Of coordinates that may be negative.
  Value sum(Value x, Value y) const;
  Value difference(Value x, Value y) const;
  /// Of numbers of positions, `sum` from here: what no memory holds stays that, and does not wrap.
  Value total(Value sum, Value more) const;
  /// Scratch memory of `count` elements, all 0.
  Value zeros(Type element, Value count) const;
};

} // namespace tulle::levels
