/* Arguments that are wrong: each call returns a code and says what is wrong. */
#include "spmv.h"

#include "matrix.h"

static tulle_buffer arrays[3], of_x, of_y;
static tulle_tensor A, X, Y;
static double x[4] = {0, 1, 2, 3}, y[3];
static const int64_t n = 4, m = 3;

static void reset(void) { A = csr(arrays), X = vector(&of_x, x, &n), Y = vector(&of_y, y, &m); }

/* The same with entries looked at: calls trust them. */
static void check(const char *what) {
  char error[200] = "";
  printf("%s: %d ", what, spmv_check(&A, &X, error, sizeof error));
  printf("%s\n", error);
  reset();
}

static void call(const char *what) {
  char error[200];
  tulle_runtime runtime;
  memset(&runtime, 0, sizeof runtime);
  runtime.error = error, runtime.error_size = sizeof error;
  printf("%s: %d ", what, spmv(&A, &X, &Y, &runtime));
  printf("%s\n", error);
  reset();
}

int main(void) {
  const int64_t five = 5, large[] = {3, (int64_t)1 << 31}, negative[] = {-3, 4};
  char error[10];
  tulle_runtime small;
  reset();
  X.dims = &five, call("size");
  A.abi = 2, call("abi");
  A.order = 3, call("order");
  A.dims = negative, call("negative");
  A.dims = large, X.dims = &large[1], call("wide");
  A.nbuffers = 2, call("nbuffers");
  arrays[0].width = 64, call("width");
  of_x.kind = TULLE_F32, call("kind");
  arrays[0].count = 3, call("positions");
  arrays[2].count = 3, call("values");
  arrays[1].data = 0, call("null");
  of_y.data = x, call("overlap");
  pos[3] = -1, call("last"), pos[3] = 4;
  call("right");
  check("checked");
  crd[1] = 0, check("twice");
  crd[0] = 3, check("descends"), crd[0] = 0;
  crd[1] = 4, check("large");
  crd[1] = -1, check("no coordinate"), crd[1] = 2;
  pos[2] = 1, check("positions"), pos[2] = 2;
  pos[0] = 1, check("first"), pos[0] = 0;
  check("checked again");
  memset(&small, 0, sizeof small);
  small.error = error, small.error_size = sizeof error, X.dims = &five;
  spmv(&A, &X, &Y, &small);
  printf("cut: %s\n", error);
  switch (spmv(0, &X, &Y, 0)) {
  case TULLE_INPUT:
  case TULLE_CPU:
    return 0;
  default:
    return 1;
  }
}
