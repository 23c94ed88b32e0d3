// Verifies the discardable attributes of the dialect: where each may stand, and what it may say.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "support/Suggest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tulle::dialect;

namespace {

/// One kind of op by name: this dialect does not depend on linalg, scf and func.
using OpNames = ArrayRef<StringRef>;

/// Where an attribute may stand, and what it may say.
struct AttributeRule {
  StringRef name;
  OpNames on; ///< ops; of none, it is one of arguments
  bool (*fits)(Attribute);
  StringRef expected;
};

template <typename Kind> bool is(Attribute a) { return isa<Kind>(a); }

bool isCount(Attribute a) {
  auto number = dyn_cast<IntegerAttr>(a);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
}

bool isCounts(Attribute a) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(a);
  return numbers && llvm::all_of(numbers.asArrayRef(), [](int64_t n) { return n >= 0; });
}

bool isGroups(Attribute a) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(a);
  return numbers && llvm::all_of(numbers.asArrayRef(), [](int64_t n) { return n >= -1; });
}

bool isNames(Attribute a) {
  auto list = dyn_cast<ArrayAttr>(a);
  return list && llvm::all_of(list, is<StringAttr>);
}

bool isLoops(Attribute a) {
  auto list = dyn_cast<ArrayAttr>(a);
  if (!list || list.empty() || !llvm::all_of(list, is<RepeatAttr>))
    return false;
  auto numberOf = [](Attribute loop) { return cast<RepeatAttr>(loop).getNumber(); };
  return llvm::is_sorted(list, [&](Attribute a, Attribute b) { return numberOf(a) <= numberOf(b); });
}

bool isScheduled(Attribute a) {
  auto list = dyn_cast<ArrayAttr>(a);
  return list && llvm::all_of(list, is<ScheduledAttr>);
}

bool isSplits(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, is<SplitAttr>);
}

constexpr StringRef kModule[] = {"builtin.module"}, kGeneric[] = {"linalg.generic"}, kFor[] = {"scf.for"},
                    kFunctions[] = {"func.func", "llvm.func"};

const AttributeRule ofOps[] = {
    {kCpuAttr, kModule, is<CpuAttr>, "a #tulle.cpu<…>"},
    {kIndicesAttr, kGeneric, isNames, "the indices' names"},
    {kDropAttr, kGeneric, is<UnitAttr>, "no value"},
    {kNameAttr, kGeneric, is<StringAttr>, "a string"},
    {kScheduleAttr, kGeneric, is<ScheduleAttr>, "a #tulle.schedule<…>"},
    {kScalarLanesAttr, kFunctions, is<UnitAttr>, "no value"},
    {kNoaliasAttr, kFunctions, is<UnitAttr>, "no value"},
    {kLoopAttr, kFor, is<LoopAttr>, "a #tulle.loop<…>"},
    {kLargeAttr, kFunctions, is<UnitAttr>, "no value"},
    {kScheduledAttr, kFunctions, isScheduled, "an array of #tulle.scheduled<…>"},
    {kSplitsAttr, kFunctions, isSplits, "an array of #tulle.split<…>"},
    {kLoopsAttr, kFunctions, isLoops, "loops, outermost first, whose numbers ascend"},
};

const AttributeRule ofArguments[] = {
    {kNameAttr, {}, is<StringAttr>, "a string"},
    {kEntriesAttr, {}, isCount, "a number of entries, an i64"},
    {kSegmentAttr, {}, isCount, "a number of entries, an i64"},
    {kBytesAttr, {}, isCount, "a number of bytes, an i64"},
    {kBytesBelowAttr, {}, isCount, "a number of bytes, an i64"},
    {kPatternAttr, {}, isCount, "a number, an i64"},
    {kSizesAttr, {}, isCounts, "numbers, an array<i64>"},
    {kDisjointAttr, {}, isGroups, "numbers, or -1 where nothing is known, an array<i64>"},
    {kNoPaddingAttr, {}, is<UnitAttr>, "no value"},
    {kStatementAttr, {}, isCount, "the number of a statement, an i64"},
    {kWholeAttr, {}, is<EncodingAttr>, "a #tulle.encoding"},
    {kSliceAttr, {}, is<SliceNumberAttr>, "a #tulle.slice_number<…>"},
    {kSourceAttr, {}, is<EncodingAttr>, "a #tulle.encoding"},
};

const AttributeRule ofResults[] = {{kNameAttr, {}, is<StringAttr>, "a string"},
                                   {kSizesAttr, {}, isCounts, "numbers, an array<i64>"},
                                   {kIntermediateAttr, {}, is<UnitAttr>, "no value"}};

LogicalResult verifyRule(Operation *op, NamedAttribute attribute, ArrayRef<AttributeRule> all,
                         StringRef what) {
  StringRef name = attribute.getName();
  const auto *rule = llvm::find_if(all, [&](const AttributeRule &k) { return k.name == name; });
  if (rule == all.end()) {
    std::vector<std::string> names;
    for (const AttributeRule &k : all)
      names.push_back(k.name.str());
    return op->emitError() << "'" << name << "' is no attribute that the tulle dialect knows of " << what
                           << tulle::support::didYouMean(name.str(), names);
  }
  if (!rule->on.empty() && !llvm::is_contained(rule->on, op->getName().getStringRef()))
    return op->emitError() << "'" << name << "' is an attribute of " << llvm::join(rule->on, " and ");
  if (!rule->fits(attribute.getValue()))
    return op->emitError() << "'" << name << "': expected " << rule->expected << ", got "
                           << attribute.getValue();
  return success();
}

ArrayRef<Attribute> loopsAround(Operation *function) {
  auto loops = function->getAttrOfType<ArrayAttr>(kLoopsAttr);
  return loops ? loops.getValue() : ArrayRef<Attribute>();
}

/// A loop that the function before this one is not in begins here.
LogicalResult verifyLoops(Operation *function) {
  Operation *before = function->getPrevNode();
  while (before && !before->hasAttr(kLoopsAttr))
    before = before->getPrevNode();
  if (!before)
    return success();
  ArrayRef<Attribute> own = loopsAround(function), others = loopsAround(before);
  const auto *begins = std::mismatch(own.begin(), own.end(), others.begin(), others.end()).first;
  for (; before; before = before->getPrevNode())
    for (Attribute loop : llvm::make_range(begins, own.end()))
      if (llvm::is_contained(loopsAround(before), loop))
        return function->emitError() << "the functions of loop " << loop << " do not follow each other";
  return success();
}

/// Of a tensor, there is a number for each dimension.
LogicalResult verifyDisjoint(Operation *op, unsigned region, unsigned argument, NamedAttribute attribute) {
  Region &body = op->getRegion(region);
  auto type =
      body.empty() ? RankedTensorType() : dyn_cast<RankedTensorType>(body.getArgument(argument).getType());
  const auto numbers = cast<DenseI64ArrayAttr>(attribute.getValue()).size();
  if (type && numbers != type.getRank())
    return op->emitError() << "'" << kDisjointAttr << "': expected a number for each of " << type.getRank()
                           << " dimensions, got " << attribute.getValue();
  return success();
}

/// What the caller has of the tensor, which is an argument too, whole or converted, has a '?' there.
LogicalResult verifySliceNumber(Operation *op, unsigned argument, SliceNumberAttr number) {
  Region &body = op->getRegion(0);
  if (!body.empty() && !body.getArgument(argument).getType().isIndex())
    return op->emitError() << "'" << kSliceAttr << "': expected an argument of type index, got "
                           << body.getArgument(argument).getType();
  auto all = op->getAttrOfType<ArrayAttr>("arg_attrs"); // of functions; null for other ops with regions
  for (Attribute each : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto own = cast<DictionaryAttr>(each);
    auto given = own.getAs<EncodingAttr>(own.get(kWholeAttr) ? kWholeAttr : kSourceAttr);
    if (!given || own.get(kNameAttr) != number.getTensor() || number.getDim() >= given.getValue().order())
      continue;
    const std::optional<tulle::format::Slice> &slice = given.getValue().dims[number.getDim()].slice;
    const std::optional<int64_t> known = !slice                                  ? std::optional<int64_t>(0)
                                         : number.getPart() == SlicePart::Offset ? slice->offset
                                         : number.getPart() == SlicePart::Size   ? slice->size
                                                                                 : slice->stride;
    if (!known)
      return success();
  }
  return op->emitError() << "'" << kSliceAttr << "': no argument called " << number.getTensor() << " has, by "
                         << kWholeAttr << " or " << kSourceAttr << ", a '?' as the "
                         << stringifySlicePart(number.getPart()) << " of dimension " << number.getDim();
}

} // namespace

LogicalResult RepeatAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t number, int64_t most,
                                 StringAttr until) {
  if (number < 0)
    return emitError() << "expected a loop's number of 0 or more, got " << number;
  if (most < 1)
    return emitError() << "expected at least one round, got most = " << most;
  if (until && until.empty())
    return emitError() << "expected the name of a tensor in 'until'";
  return success();
}

LogicalResult TulleDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyRule(op, attribute, ofOps, "operations")))
    return failure();
  return attribute.getName() == kLoopsAttr ? verifyLoops(op) : success();
}

LogicalResult TulleDialect::verifyRegionArgAttribute(Operation *op, unsigned region, unsigned argument,
                                                     NamedAttribute attribute) {
  if (failed(verifyRule(op, attribute, ofArguments, "arguments")))
    return failure();
  if (attribute.getName() == kSliceAttr)
    return verifySliceNumber(op, argument, cast<SliceNumberAttr>(attribute.getValue()));
  return attribute.getName() == kDisjointAttr ? verifyDisjoint(op, region, argument, attribute) : success();
}

LogicalResult TulleDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                        NamedAttribute attribute) {
  return verifyRule(op, attribute, ofResults, "results");
}
