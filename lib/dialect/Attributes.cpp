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

struct Known {
  StringRef name;
  OpNames on; ///< ops; of none, it is one of arguments
  bool (*fits)(Attribute);
  StringRef expected;
};

bool isUnit(Attribute a) { return isa<UnitAttr>(a); }
bool isString(Attribute a) { return isa<StringAttr>(a); }
bool isEncoding(Attribute a) { return isa<EncodingAttr>(a); }
bool isPlan(Attribute a) { return isa<AssemblyPlanAttr>(a); }
bool isLoop(Attribute a) { return isa<LoopAttr>(a); }
bool isCpu(Attribute a) { return isa<CpuAttr>(a); }

bool isCount(Attribute a) {
  auto number = dyn_cast<IntegerAttr>(a);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
}

bool isCounts(Attribute a) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(a);
  return numbers && llvm::all_of(numbers.asArrayRef(), [](int64_t n) { return n >= 0; });
}

bool isNames(Attribute a) {
  auto list = dyn_cast<ArrayAttr>(a);
  return list && llvm::all_of(list, isString);
}

constexpr StringRef kModule[] = {"builtin.module"}, kGeneric[] = {"linalg.generic"}, kFor[] = {"scf.for"},
                    kFunctions[] = {"func.func", "llvm.func"};

const Known ofOps[] = {
    {kCpuAttr, kModule, isCpu, "a #tulle.cpu<…>"},
    {kIndicesAttr, kGeneric, isNames, "the indices' names"},
    {kDropAttr, kGeneric, isUnit, "no value"},
    {kPlanAttr, kGeneric, isPlan, "a #tulle<plan …>"},
    {kScalarLanesAttr, kFunctions, isUnit, "no value"},
    {kNoaliasAttr, kFunctions, isUnit, "no value"},
    {kLoopAttr, kFor, isLoop, "a #tulle.loop<…>"},
    {kLargeAttr, kFunctions, isUnit, "no value"},
};

const Known ofArguments[] = {
    {kNameAttr, {}, isString, "a string"},
    {kEntriesAttr, {}, isCount, "a number of entries, an i64"},
    {kPatternAttr, {}, isCount, "a number, an i64"},
    {kSizesAttr, {}, isCounts, "numbers, an array<i64>"},
    {kStatementAttr, {}, isCount, "the number of a statement, an i64"},
    {kWholeAttr, {}, isEncoding, "a #tulle.encoding"},
    {kSourceAttr, {}, isEncoding, "a #tulle.encoding"},
};

const Known ofResults[] = {{kNameAttr, {}, isString, "a string"},
                           {kIntermediateAttr, {}, isUnit, "no value"}};

LogicalResult verifyKnown(Operation *op, NamedAttribute attribute, ArrayRef<Known> all, StringRef what) {
  StringRef name = attribute.getName();
  const auto *known = llvm::find_if(all, [&](const Known &k) { return k.name == name; });
  if (known == all.end()) {
    std::vector<std::string> names;
    for (const Known &k : all)
      names.push_back(k.name.str());
    return op->emitError() << "'" << name << "' is no attribute that the tulle dialect knows of " << what
                           << tulle::support::didYouMean(name.str(), names);
  }
  if (!known->on.empty() && !llvm::is_contained(known->on, op->getName().getStringRef()))
    return op->emitError() << "'" << name << "' is an attribute of " << llvm::join(known->on, " and ");
  if (!known->fits(attribute.getValue()))
    return op->emitError() << "'" << name << "': expected " << known->expected << ", got "
                           << attribute.getValue();
  return success();
}

} // namespace

LogicalResult TulleDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyKnown(op, attribute, ofOps, "operations");
}

LogicalResult TulleDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return verifyKnown(op, attribute, ofArguments, "arguments");
}

LogicalResult TulleDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                        NamedAttribute attribute) {
  return verifyKnown(op, attribute, ofResults, "results");
}
