// Buffers that come from outside are checked once here, so that kernels need not check anything.
#include "format/LevelKinds.h"
#include "runtime/tensor/MemoryLimits.h"
#include "runtime/tensor/Sweep.h"
#include "runtime/tensor/Walk.h"
#include "support/Errors.h"
#include <algorithm>
#include <numeric>

namespace tulle::runtime {

using format::LevelKind;

namespace {

class Validator {
public:
  explicit Validator(const Tensor &tensor) : tensor(tensor) {}

  void run() {
    shapes = levelShapes(tensor.encoding, tensor.dims);
    checkFields();
    checkSizes();
    checkPermutation();
    takeStoredSizes(shapes, tensor);
    batch = batches(shapes);
    for (unsigned l = 0; l < shapes.size(); ++l)
      fields.push_back(levelFields(tensor, l));
    int64_t parents = 1;
    for (unsigned l = 0; l < shapes.size(); ++l)
      parents = checkLevel(l, parents);
    requireCount(tensor.layout().valuesField(), parents);
    checkWithinDims();
  }

private:
  std::string fieldName(unsigned f) const {
    const format::Field &field = tensor.layout().fields[f];
    if (field.kind == format::FieldKind::Values)
      return "values";
    return fmt::format("{}[{}]", fieldLabel(field.kind), field.level);
  }

  /// Whether a level above starts a run that this singleton belongs to, and checks it.
  bool inRun(unsigned l) const {
    for (unsigned k = 0; k < l; ++k)
      if (shapes[k].runEnd >= l)
        return true;
    return false;
  }

  void checkFields() const {
    const format::Layout expected = format::layout(tensor.encoding);
    if (tensor.layout().fields.size() != expected.fields.size() ||
        tensor.buffers.size() != expected.fields.size())
      throwError("a {} tensor has {} buffers, got {}", format::displayName(tensor.encoding),
                 expected.fields.size(), tensor.buffers.size());
    for (unsigned f = 0; f < expected.fields.size(); ++f) {
      const format::Field &want = expected.fields[f], &have = tensor.layout().fields[f];
      if (want.kind != have.kind || want.level != have.level || want.width != have.width ||
          want.implied != have.implied)
        throwError("{}: the tensor's layout is not that of its format {}", fieldName(f),
                   format::displayName(tensor.encoding));
      const Buffer &b = tensor.buffers[f];
      if (b.count < 0 || b.bytes < 0 || (b.count > 0 && !b.data && !want.implied))
        throwError("{}: count {}, {} bytes at address {} is not a buffer", fieldName(f), b.count, b.bytes,
                   b.data);
      if (want.implied)
        continue;
      const bool values = want.kind == format::FieldKind::Values;
      const unsigned width = values ? byteWidth(tensor.type) : want.width / 8; // 0: four elements in a byte
      const int64_t bytes =
          width ? checkedMul(b.count, width, fieldName(f)) : b.count / 4 + (b.count % 4 != 0);
      if (b.bytes < bytes)
        throwError("{}: {} elements need {} bytes, the buffer has {}", fieldName(f), b.count, bytes, b.bytes);
      const int64_t alignment = values && isComplex(tensor.type) ? width / 2 : std::max(width, 1u);
      if (reinterpret_cast<uintptr_t>(b.data) % alignment)
        throwError("{}: address {} is not aligned to {} bytes", fieldName(f), b.data, alignment);
    }
  }

  void requireCount(unsigned field, int64_t count) const {
    if (tensor.buffers[field].count < count)
      throwError("{}: the buffer has {} elements, the levels above it need {}", fieldName(field),
                 tensor.buffers[field].count, count);
  }

  /// Returns the number of positions at level l.
  int64_t checkLevel(unsigned l, int64_t parents) {
    const LevelShape &s = shapes[l];
    switch (s.kind) {
    case LevelKind::Compressed:
      return checkCompressed(l, parents);
    case LevelKind::LooseCompressed:
      return checkLoose(l, parents);
    case LevelKind::Jagged:
      return checkJagged(l, parents);
    case LevelKind::Ragged:
    case LevelKind::Banded:
    case LevelKind::Hashed:
      return checkSegments(l, parents);
    case LevelKind::Fixed:
      return checkFixed(l, parents);
    case LevelKind::Singleton:
      if (!inRun(l))
        checkRange(l, parents);
      return parents;
    case LevelKind::Offset:
      return parents;
    case LevelKind::Structured: {
      int64_t positions = checkedMul(parents, s.n, s.text);
      checkRange(l, positions);
      for (int64_t p = 0; p < parents; ++p)
        checkSegment(l, p * s.n, p * s.n + s.n);
      return positions;
    }
    case LevelKind::Declared:
      return checkDeclared(l, parents);
    case LevelKind::Squeezed:
      checkRange(l, s.n);
      checkSegment(l, 0, s.n);
      return checkedMul(parents, s.n, s.text);
    case LevelKind::Bitmap: {
      int64_t positions = checkedMul(parents, s.size, s.text);
      requireCount(*tensor.layout().bits[l], (positions / 64 + (positions % 64 != 0)) * 8);
      return positions;
    }
    default:
      return checkedMul(parents, s.size, s.text);
    }
  }

  /// Positions of `slots` entries start at 0, do not decrease, and end within `limit`.
  int64_t checkPositions(unsigned l, int64_t slots, int64_t limit, const char *what) const {
    requireCount(*tensor.layout().positions[l], slots);
    const LevelFields &here = fields[l];
    if (positionsHold(here, slots, limit))
      return slots ? here.position(slots - 1) : 0;
    for (int64_t i = 0; i < slots; ++i) {
      int64_t value = here.position(i), before = i ? here.position(i - 1) : 0;
      if (i == 0 && value != 0)
        throwError("pos[{}][0] = {}: positions must start at 0", l, value);
      if (value < before)
        throwError("pos[{}][{}] = {} is less than pos[{}][{}] = {}: positions must not decrease", l, i, value,
                   l, i - 1, before);
      if (value > limit)
        throwError("pos[{}][{}] = {} exceeds the number of {}, {}", l, i, value, what, limit);
    }
    return slots ? here.position(slots - 1) : 0;
  }

  int64_t checkCompressed(unsigned l, int64_t parents) {
    int64_t slots = checkedAdd(parents, batch.count, shapes[l].text);
    const LevelFields &here = fields[l];
    const int64_t positions = checkPositions(l, slots, here.crdCount / here.stride, "coordinates");
    std::vector<int64_t> starts = batchStarts(tensor, shapes, l);
    for (size_t b = 1; b + 1 < starts.size(); ++b)
      if (int64_t i = starts[b] + b; here.position(i) != here.position(i - 1))
        throwError("pos[{}][{}] = {}: batch {} must start where batch {} ends, at {}", l, i, here.position(i),
                   b, b - 1, here.position(i - 1));
    checkRange(l, positions);
    const bool ordered = std::all_of(shapes.begin() + l, shapes.begin() + shapes[l].runEnd + 1,
                                     [](const LevelShape &s) { return s.ordered; });
    const std::span run(fields.data() + l, shapes[l].runEnd - l + 1);
    if (ordered && segmentsAscend(run, here, slots, shapes[shapes[l].runEnd].unique))
      return positions;
    for (int64_t i = 0; i + 1 < slots; ++i)
      checkSegment(l, here.position(i), here.position(i + 1));
    return positions;
  }

  using Segments = std::vector<std::pair<int64_t, int64_t>>;

  /// The segments of a level that stores where they begin and end, in the order of positions, without empty
  /// ones: they end within `capacity`, and do not overlap.
  Segments checkEnds(unsigned l, int64_t parents, int64_t capacity, const char *what) const {
    requireCount(*tensor.layout().positions[l], checkedMul(parents, 2, shapes[l].text));
    const LevelFields &here = fields[l];
    Segments segments;
    for (int64_t p = 0; p < parents; ++p) {
      int64_t low = here.position(2 * p), high = here.position(2 * p + 1);
      if (low < 0 || high < low)
        throwError("pos[{}][{}] = {} is less than pos[{}][{}] = {}: a segment must not end before it starts",
                   l, 2 * p + 1, high, l, 2 * p, low);
      if (high > capacity)
        throwError("pos[{}][{}] = {} exceeds the number of {}, {}", l, 2 * p + 1, high, what, capacity);
      if (low < high)
        segments.push_back({low, high});
    }
    checkBatchesOfSegments(l, parents);
    std::sort(segments.begin(), segments.end());
    for (size_t i = 1; i < segments.size(); ++i)
      if (segments[i].first < segments[i - 1].second)
        throwError("pos[{}]: the segments {}..{} and {}..{} overlap", l, segments[i - 1].first,
                   segments[i - 1].second, segments[i].first, segments[i].second);
    return segments;
  }

  int64_t checkJagged(unsigned l, int64_t parents) const {
    const LevelShape &s = shapes[l];
    int64_t end = 0;
    for (auto [low, high] : checkEnds(l, parents, INT64_MAX, "positions")) {
      if (high - low > s.size)
        throwError("pos[{}]: the segment {}..{} has {} coordinates; {} has at most {}", l, low, high,
                   high - low, s.text, s.size);
      end = high;
    }
    return end;
  }

  int64_t checkLoose(unsigned l, int64_t parents) {
    const LevelFields &here = fields[l];
    const int64_t capacity = here.crdCount / here.stride;
    for (unsigned k = l; k <= shapes[l].runEnd; ++k) {
      const format::CoordinateRef ref = *tensor.layout().coordinates[k];
      requireCount(ref.field, checkedMul(capacity, ref.stride, shapes[k].text));
    }
    for (auto [low, high] : checkEnds(l, parents, capacity, "coordinates")) {
      for (unsigned k = l; k <= shapes[l].runEnd; ++k)
        for (int64_t q = low; q < high; ++q)
          checkCoordinate(k, q);
      checkSegment(l, low, high);
    }
    return capacity;
  }

  /// A compressed level below finds a batch's run of positions by the number of the batch: the positions of a
  /// batch must lie behind those of the one before. Where nothing else stores positions segments lie
  /// anywhere.
  void checkBatchesOfSegments(unsigned l, int64_t parents) const {
    bool needed = false;
    for (unsigned k = l + 1; k < shapes.size(); ++k)
      needed |= shapes[k].kind == LevelKind::Compressed;
    // Without segments there is nothing to check, however many batches are empty.
    if (!needed || batch.count <= 1 || parents == 0)
      return;
    std::vector<int64_t> firsts = batchStarts(tensor, shapes, l), starts = batchStarts(tensor, shapes, l + 1);
    for (int64_t b = 0; b < batch.count; ++b)
      for (int64_t p = firsts[b]; p < firsts[b + 1]; ++p) {
        int64_t low = fields[l].position(2 * p), high = fields[l].position(2 * p + 1);
        if (starts[b] > low || high > starts[b + 1])
          throwError("pos[{}][{}]: the segment {}..{} of batch {} must lie within {}..{}, between where the "
                     "first segments of this batch and the next one start",
                     l, 2 * p, low, high, b, starts[b], starts[b + 1]);
      }
  }

  /// So many positions of the level, and of those that share its run.
  void checkRange(unsigned l, int64_t positions) const {
    for (unsigned k = l; k <= shapes[l].runEnd; ++k) {
      const format::CoordinateRef ref = *tensor.layout().coordinates[k];
      requireCount(ref.field, checkedMul(positions, ref.stride, shapes[k].text));
      if (coordinatesHold(fields[k], positions, shapes[k].low, shapes[k].size))
        continue;
      for (int64_t p = 0; p < positions; ++p)
        if (!(shapes[k].padded && fields[k].empty(p)))
          checkCoordinate(k, p);
    }
  }

  void checkCoordinate(unsigned l, int64_t p) const {
    const LevelShape &s = shapes[l];
    if (int64_t c = fields[l].coordinate(p); !s.contains(c))
      throwError("crd[{}][{}] = {} is outside the level's coordinates, {}..{}", l, p, c, s.low,
                 s.low + s.size - 1);
  }

  /// Lexicographic comparison of the coordinates at positions p and q over levels l to `last`.
  int compareRuns(unsigned l, unsigned last, int64_t p, int64_t q) const {
    for (unsigned k = l; k <= last; ++k) {
      int64_t a = fields[k].coordinate(p), b = fields[k].coordinate(q);
      if (a != b)
        return a < b ? -1 : 1;
    }
    return 0;
  }

  std::string runText(unsigned l, int64_t p) const {
    std::string text;
    for (unsigned k = l; k <= shapes[l].runEnd; ++k)
      text += (k > l ? ", " : "") + std::to_string(fields[k].coordinate(p));
    return text;
  }

  void checkSegment(unsigned l, int64_t begin, int64_t end) const {
    const unsigned last = shapes[l].runEnd;
    const bool unique = shapes[last].unique;
    unsigned ordered = l; // the levels of the run before this one are in order
    while (ordered <= last && shapes[ordered].ordered)
      ++ordered;
    for (int64_t p = begin + 1; p < end && ordered > l; ++p) {
      int order = compareRuns(l, ordered - 1, p - 1, p);
      if (order > 0 || (order == 0 && unique && ordered > last))
        throwError("crd[{}][{}] = {} follows {}: coordinates must {}", l, p, runText(l, p), runText(l, p - 1),
                   order == 0 ? "be unique within their segment" : "increase within their segment");
    }
    if (unique && ordered <= last)
      checkDistinct(l, begin, end);
  }

  /// The coordinates of a segment without order are distinct.
  void checkDistinct(unsigned l, int64_t begin, int64_t end) const {
    std::vector<int64_t> positions(size_t(end - begin));
    std::iota(positions.begin(), positions.end(), begin);
    std::sort(positions.begin(), positions.end(), [&](int64_t p, int64_t q) {
      int order = compareRuns(l, shapes[l].runEnd, p, q);
      return order < 0 || (order == 0 && p < q);
    });
    for (size_t i = 1; i < positions.size(); ++i)
      if (compareRuns(l, shapes[l].runEnd, positions[i - 1], positions[i]) == 0)
        throwError("crd[{}][{}] = {} is also at {}: coordinates must be unique within their segment", l,
                   positions[i], runText(l, positions[i]), positions[i - 1]);
  }

  void checkSizes() const {
    for (unsigned l = 0; l < shapes.size(); ++l) {
      auto field = tensor.layout().sizes[l];
      if (!field)
        continue;
      requireCount(*field, 1);
      int64_t size = loadIndex(tensor.buffers[*field].data, 64, 0);
      const format::Expr &expr = tensor.encoding->levels[l].expr;
      if (expr->kind == format::ExprKind::Counter && expr->value > 0 && size != expr->value)
        throwError("size[{}] = {}, and {} has {} slices", l, size, shapes[l].text, expr->value);
      // A squeezed level shares its coordinates, and every value of a counter has an entry: both are bounded.
      if (size < 0 || (size > shapes[l].size && shapes[l].kind != LevelKind::Declared))
        throwError("size[{}] = {} is outside 0..{}, what {} can have", l, size, shapes[l].size,
                   shapes[l].text);
    }
  }

  void checkPermutation() const {
    for (unsigned l = 0; l < shapes.size(); ++l) {
      const format::ExprNode *rank = format::find(tensor.encoding->levels[l].expr, format::ExprKind::Rank);
      if (!rank)
        continue;
      unsigned f = *tensor.layout().permutation[l];
      int64_t size = tensor.dims[rank->dims[0]],
              within = rank->value > 0 ? rank->value : std::max<int64_t>(size, 1);
      requireCount(f, size);
      std::vector<bool> seen(size_t(size), false);
      for (int64_t r = 0; r < size; ++r) {
        int64_t i = loadIndex(tensor.buffers[f].data, 64, r);
        if (i < 0 || i >= size)
          throwError("{}[{}] = {} is outside 0..{}", fieldName(f), r, i, size - 1);
        if (i / within != r / within)
          throwError("{}[{}] = {}: ranks {}..{} are those of the same coordinates", fieldName(f), r, i,
                     r / within * within, std::min(r / within * within + within, size) - 1);
        if (seen[i])
          throwError("{}[{}] = {} occurs before: every coordinate has one rank", fieldName(f), r, i);
        seen[i] = true;
      }
      return;
    }
  }

  /// Levels whose positions say where each parent's segment ends.
  int64_t checkSegments(unsigned l, int64_t parents) {
    const LevelShape &s = shapes[l];
    const bool hashed = s.kind == LevelKind::Hashed;
    const int64_t positions =
        checkPositions(l, checkedAdd(parents, 1, s.text), hashed ? fields[l].crdCount : INT64_MAX,
                       hashed ? "coordinates" : "positions");
    if (s.kind == LevelKind::Banded)
      requireCount(tensor.layout().coordinates[l]->field, parents);
    for (int64_t p = 0; p < parents; ++p) {
      const int64_t begin = fields[l].position(p), end = fields[l].position(p + 1);
      if (hashed)
        checkTable(l, begin, end);
      else if (s.kind == LevelKind::Banded)
        checkBand(l, p, end - begin);
      else if (end - begin > s.size)
        throwError("pos[{}][{}] = {} ends a segment of {} coordinates; {} has at most {}", l, p + 1, end,
                   end - begin, s.text, s.size);
    }
    return positions;
  }

  void checkBand(unsigned l, int64_t p, int64_t length) const {
    const LevelShape &s = shapes[l];
    const int64_t first = fields[l].coordinate(p);
    if (length > 0)
      checkCoordinate(l, p);
    if (length > 0 && length > s.size - (first - s.low))
      throwError("crd[{}][{}] = {} begins a run of {}, which ends beyond the level's last coordinate, {}", l,
                 p, first, length, s.low + s.size - 1);
    if (length == 0 && first != 0)
      throwError("crd[{}][{}] = {} begins no run: it must be 0", l, p, first);
  }

  /// Positions follow on each other, and the coordinates at them ascend within the level.
  int64_t checkDeclared(unsigned l, int64_t parents) {
    const LevelShape &s = shapes[l];
    const DeclaredLevel level(s, fields[l]);
    const format::LevelDeclaration &declaration = *s.declaration;
    int64_t positions = 0;
    if (declaration.length)
      positions = checkPositions(l, checkedAdd(parents, 1, s.text),
                                 declaration.storesCoordinates ? fields[l].crdCount : INT64_MAX,
                                 declaration.storesCoordinates ? "coordinates" : "positions");
    else if (const std::optional<int64_t> slots = level.slots(); slots && *slots >= 0)
      positions = checkedMul(parents, *slots, s.text);
    else
      throwError("{}: its declaration gives it no number of positions", s.text);
    if (declaration.storesCoordinates || declaration.firstCoordinate)
      requireCount(tensor.layout().coordinates[l]->field, declaration.firstCoordinate ? parents : positions);
    for (int64_t p = 0; p < parents; ++p) {
      const auto [begin, end] = level.positions(p);
      int64_t before = -1, q = begin;
      for (; q < end && !(s.padded && fields[l].empty(q)); ++q) {
        const int64_t c = level.coordinate(p, q);
        if (!s.contains(c))
          throwError("{}: the coordinate at position {} is {}, outside 0..{}", s.text, q, c, s.size - 1);
        if (c <= before)
          throwError("{}: coordinate {} at position {} follows {}: coordinates must increase below a parent",
                     s.text, c, q, before);
        before = c;
      }
      for (int64_t empty = q; q < end; ++q)
        if (!fields[l].empty(q))
          throwError("crd[{}][{}] = {} follows the empty slot {}: empty slots come last", l, q,
                     fields[l].coordinate(q), empty);
    }
    return positions;
  }

  int64_t checkFixed(unsigned l, int64_t parents) {
    const LevelShape &s = shapes[l];
    int64_t positions = checkedMul(parents, s.n, s.text);
    requireCount(tensor.layout().coordinates[l]->field, positions);
    for (int64_t p = 0; p < parents; ++p) {
      int64_t q = p * s.n, end = q + s.n;
      for (; q < end && !fields[l].empty(q); ++q)
        checkCoordinate(l, q);
      checkSegment(l, p * s.n, q);
      for (int64_t entries = q; q < end; ++q)
        if (!fields[l].empty(q))
          throwError("crd[{}][{}] = {} follows the empty slot {}: empty slots come last", l, q,
                     fields[l].coordinate(q), entries);
    }
    return positions;
  }

  /// Every coordinate is found by the probes that look for it, and every probe ends.
  void checkTable(unsigned l, int64_t begin, int64_t end) const {
    const LevelFields &here = fields[l];
    int64_t slots = end - begin, entries = 0;
    if (slots == 0)
      return;
    if (slots < 2 || (slots & (slots - 1)) != 0)
      throwError("pos[{}]: the table {}..{} has {} slots: expected a power of two above 1, or none", l, begin,
                 end, slots);
    for (int64_t q = begin; q < end; ++q)
      entries += !here.empty(q);
    if (2 * entries > slots)
      throwError("pos[{}]: the table {}..{} holds {} entries: at most half of its slots may be taken", l,
                 begin, end, entries);
    for (int64_t q = begin; q < end; ++q) {
      if (here.empty(q))
        continue;
      checkCoordinate(l, q);
      int64_t c = here.coordinate(q), at = firstSlot(c, slots);
      while (begin + at != q && !here.empty(begin + at) && here.coordinate(begin + at) != c)
        at = (at + 1) & (slots - 1);
      if (begin + at == q)
        continue;
      if (here.empty(begin + at))
        throwError("crd[{}][{}] = {} is not found from slot {} on, where the search for it begins", l, q, c,
                   begin + firstSlot(c, slots));
      throwError("crd[{}][{}] = {} is also at {}: coordinates must be unique within their table", l, q, c,
                 begin + at);
    }
  }

  /// Dense levels pad blocks beyond a dimension's end; coordinates that are stored must lie inside it.
  void checkWithinDims() const {
    std::vector<bool> checked(tensor.dims.size(), false);
    auto inverse = format::inverseMap(tensor.encoding);
    for (unsigned d = 0; d < checked.size(); ++d) {
      const format::Expr &e = (*inverse)[d];
      if (e->kind != format::ExprKind::Level && e->kind != format::ExprKind::Unrank)
        checked[d] = !format::mayLieOutside(tensor.encoding, d, e);
    }
    // Where a dimension's last digit is stored entry by entry, its blocks are not padded, whatever stands
    // above.
    std::vector<const LevelShape *> last(tensor.dims.size(), nullptr);
    if (format::digits(tensor.encoding))
      for (const LevelShape &s : shapes)
        last[s.digit.dim] = &s;
    for (const LevelShape *s : last)
      if (s && (s->digit.modulus || s->digit.stride != 1) && !s->full() &&
          !(s->declaration && s->declaration->hasUnmarkedPadding()) &&
          !format::isOneOf(s->kind,
                           {LevelKind::Ragged, LevelKind::Jagged, LevelKind::Banded, LevelKind::Squeezed}))
        checked[s->digit.dim] = true;
    if (std::none_of(checked.begin(), checked.end(), [](bool c) { return c; }))
      return;
    walk(tensor, true, [&](const std::vector<int64_t> &coords, int64_t p) {
      for (size_t d = 0; d < coords.size(); ++d)
        if (checked[d] && (coords[d] < 0 || coords[d] >= tensor.dims[d]))
          throwError("value {} lies at coordinate {} of dimension {}, which has size {}", p, coords[d], d,
                     tensor.dims[d]);
    });
  }

  const Tensor &tensor;
  std::vector<LevelShape> shapes;
  std::vector<LevelFields> fields; ///< per level
  Batches batch;
};

} // namespace

void validate(const Tensor &tensor) {
  const Tensor all = whole(tensor); // what lies outside a slice is read, too
  Validator(all).run();
}

} // namespace tulle::runtime
