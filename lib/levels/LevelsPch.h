// The precompiled header of everything that writes levels' code: that of MLIR, the dialect and the levels'
// interface. Reading these costs a pass two to three seconds of its four.
#pragma once
#include "dialect/Dialect.h"
#include "levels/Indices.h"
#include "mlir/IR/IRMapping.h"
#include "support/Pch.h"
