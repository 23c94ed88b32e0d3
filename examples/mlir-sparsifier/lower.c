/* Lowers a module of MLIR's sparse_tensor dialect, by MLIR's C API, and prints it: lower FILE. */
#include "tulle-c/sparsifier.h"
#include <stdio.h>
#include <stdlib.h>

static void print(MlirStringRef text, void *stream) { fwrite(text.data, 1, text.length, stream); }

/* The file's text, with a 0 at its end, which MLIR's parser wants. */
static char *readText(const char *name) {
  FILE *file = fopen(name, "rb");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  text[fread(text, 1, (size_t)size, file)] = 0;
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  char *text = argc == 2 ? readText(argv[1]) : NULL;
  if (!text) {
    fprintf(stderr, "usage: lower FILE\n");
    return 2;
  }
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tulleRegisterDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);

  int failed = 1;
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (!mlirModuleIsNull(module)) {
    MlirPassManager manager = mlirPassManagerCreate(context);
    const TulleSparsifierOptions options = {.vectorLength = 4};
    failed = mlirLogicalResultIsFailure(tulleAddSparsifier(manager, &options)) ||
             mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
    if (!failed)
      mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
    mlirPassManagerDestroy(manager);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  free(text);
  return failed;
}
