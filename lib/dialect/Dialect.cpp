#include "dialect/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace tulle::dialect;
#include "dialect/TulleDialect.cpp.inc"
