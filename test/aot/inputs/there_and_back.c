/* A matrix in CSR in another format and back: the same entries, beside zeros that the format stores. */
#include <stdlib.h>

#include "there.h"

#include "back.h"

#include "matrix.h"

enum { ROWS = 37, COLUMNS = 53 };

static int32_t starts[ROWS + 1], columns[ROWS * COLUMNS];
static double numbers[ROWS * COLUMNS], dense[ROWS][COLUMNS];

static void fill(void) {
  int i, j, n = 0;
  for (i = 0; i < ROWS; ++i) {
    for (j = 0; j < COLUMNS; ++j)
      if ((i * 31 + j * 17) % 11 == 0 || i == j)
        dense[i][j] = numbers[n] = i + j / 64. + 1, columns[n++] = j;
    starts[i + 1] = n;
  }
}

int main(void) {
  const int64_t sizes[] = {ROWS, COLUMNS};
  tulle_buffer arrays[3];
  tulle_tensor A = csr(arrays), B, C;
  char error[300];
  int i, k, found = 0;
  fill();
  A.dims = sizes;
  arrays[0].data = starts, arrays[1].data = columns, arrays[2].data = numbers;
  arrays[0].count = ROWS + 1, arrays[1].count = arrays[2].count = starts[ROWS];
  memset(&B, 0, sizeof B), memset(&C, 0, sizeof C);
  if (there(&A, &B, 0) != TULLE_OK || back_check(&B, error, sizeof error) != TULLE_OK ||
      back(&B, &C, 0) != TULLE_OK)
    return 1;
  B.release(B.owner);
  for (i = 0; i < ROWS; ++i)
    for (k = ((int32_t *)C.buffers[0].data)[i]; k < ((int32_t *)C.buffers[0].data)[i + 1]; ++k) {
      const double value = ((double *)C.buffers[2].data)[k];
      if (value != dense[i][((int32_t *)C.buffers[1].data)[k]])
        return 2;
      found += value != 0;
    }
  C.release(C.owner);
  printf("%s\n", found == starts[ROWS] ? "the same entries" : "some are missing");
  return 0;
}
