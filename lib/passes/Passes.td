// Every pass of Tulle. A pass's example is a lit test; its file, flag and test share one stem.
#ifndef TULLE_PASSES
#define TULLE_PASSES
include "mlir/Pass/PassBase.td"

#endif // TULLE_PASSES
