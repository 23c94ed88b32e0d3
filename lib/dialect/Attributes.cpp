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

bool isNames(Attribute a) {
  auto list = dyn_cast<ArrayAttr>(a);
  return list && llvm::all_of(list, is<StringAttr>);
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
};

const AttributeRule ofArguments[] = {
    {kNameAttr, {}, is<StringAttr>, "a string"},
    {kEntriesAttr, {}, isCount, "a number of entries, an i64"},
    {kPatternAttr, {}, isCount, "a number, an i64"},
    {kSizesAttr, {}, isCounts, "numbers, an array<i64>"},
    {kStatementAttr, {}, isCount, "the number of a statement, an i64"},
    {kWholeAttr, {}, is<EncodingAttr>, "a #tulle.encoding"},
    {kSourceAttr, {}, is<EncodingAttr>, "a #tulle.encoding"},
};

const AttributeRule ofResults[] = {{kNameAttr, {}, is<StringAttr>, "a string"},
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

} // namespace

LogicalResult TulleDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyRule(op, attribute, ofOps, "operations");
}

LogicalResult TulleDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return verifyRule(op, attribute, ofArguments, "arguments");
}

LogicalResult TulleDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                        NamedAttribute attribute) {
  return verifyRule(op, attribute, ofResults, "results");
}
