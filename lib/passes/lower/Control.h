// Structured control flow from lambdas, as the level formats have it.
#pragma once
#include "levels/Control.h"

namespace tulle::lower {
using levels::forLoop;
using levels::ifElse;
using levels::kindAttr;
using levels::kindValue;
using levels::parallelParts;
using levels::Values;
using levels::whileLoop;
} // namespace tulle::lower
