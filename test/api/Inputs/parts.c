/* What examples/mlir-sparsifier/lower.c does not use of the C interface. */
#include "tulle-c/sparsifier.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static void print(MlirStringRef text, void *unused) { fwrite(text.data, 1, text.length, stdout); }

int main(void) {
  /* The dialect alone reads its own formats, which a context without it does not. */
  MlirContext context = mlirContextCreate();
  MlirDialectHandle tulle = mlirGetDialectHandle__tulle__();
  MlirStringRef format = mlirStringRefCreateFromCString("#tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : banded) }>");
  assert(mlirAttributeIsNull(mlirAttributeParseGet(context, format)));
  mlirDialectHandleRegisterDialect(tulle, context);
  assert(!mlirDialectIsNull(mlirDialectHandleLoadDialect(tulle, context)));
  MlirAttribute read = mlirAttributeParseGet(context, format);
  assert(!mlirAttributeIsNull(read));
  mlirAttributePrint(read, print, NULL);
  printf("\nnamespace: %.*s\n", (int)mlirDialectHandleGetNamespace(tulle).length, mlirDialectHandleGetNamespace(tulle).data);
  fflush(stdout);

  /* Names in texts; a nested manager of modules takes the pipeline, one of functions does not. */
  tulleRegisterPasses();
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager all = mlirPassManagerGetAsOpPassManager(manager);
  assert(mlirLogicalResultIsSuccess(
      mlirParsePassPipeline(all, mlirStringRefCreateFromCString("builtin.module(tulle-sparsifier{vl=8})"), print, NULL)));
  MlirStringRef module = mlirStringRefCreateFromCString("builtin.module");
  assert(mlirLogicalResultIsSuccess(tulleAddNestedSparsifier(mlirPassManagerGetNestedUnder(manager, module), NULL)));
  MlirStringRef function = mlirStringRefCreateFromCString("func.func");
  assert(mlirLogicalResultIsFailure(tulleAddNestedSparsifier(mlirPassManagerGetNestedUnder(manager, function), NULL)));
  mlirPassManagerDestroy(manager);
  mlirContextDestroy(context);
  return 0;
}
