// tulle-resolve-widths: what the engine does with tensors, done with types. One encoding has the same widths
// everywhere, so that casts between tensors of it, and spaces over them, stay valid.
#include "dialect/Dialect.h"
#include "format/Layout.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "passes/Passes.h"
#include <limits>

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_RESOLVEWIDTHS
#include "passes/Passes.h.inc"

namespace {

/// The encoding with the widths that a tensor of these sizes needs; 64 bits where one is not known.
format::Encoding widthsFor(const format::Encoding &encoding, ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return format::resolveWidths(encoding, INT64_MAX, INT64_MAX);
  int64_t elements = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements))
      elements = std::numeric_limits<int64_t>::max();
  return format::resolveWidths(encoding, std::vector<int64_t>(shape.begin(), shape.end()), elements);
}

struct ResolveWidths : impl::ResolveWidthsBase<ResolveWidths> {
  void runOnOperation() override {
    llvm::DenseMap<Attribute, format::Encoding> resolved;
    AttrTypeWalker types;
    types.addWalk([&](RankedTensorType type) {
      auto attr = dyn_cast_if_present<dialect::EncodingAttr>(type.getEncoding());
      if (!attr)
        return;
      const format::Encoding own = widthsFor(attr.getValue(), type.getShape());
      auto [known, isNew] = resolved.try_emplace(attr, own);
      known->second.posWidth = std::max(known->second.posWidth, own.posWidth);
      known->second.crdWidth = std::max(known->second.crdWidth, own.crdWidth);
    });
    getOperation()->walk([&](Operation *op) {
      op->getAttrDictionary().walk([&](Type type) { types.walk(type); });
      for (Type type : op->getResultTypes())
        types.walk(type);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            types.walk(type);
    });
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](dialect::EncodingAttr attr) -> Attribute {
      auto known = resolved.find(attr);
      return known == resolved.end() ? attr : dialect::EncodingAttr::get(&getContext(), known->second);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};

} // namespace
} // namespace tulle::passes
