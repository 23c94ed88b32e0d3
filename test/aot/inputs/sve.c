/* y = A x and s = v . x with vectors of a length that the processor decides, for rows of 0 to 79 entries. */
#include <stdio.h>
#include "spmv.h"
#include "dot.h"

enum { ROWS = 80, COLUMNS = 100 };

static long vector_bits(void) {
  long bytes;
  __asm__("rdvl %0, #1" : "=r"(bytes));
  return 8 * bytes;
}

int main(void) {
  static int32_t pos[ROWS + 1], crd[ROWS * COLUMNS];
  static double values[ROWS * COLUMNS], x[COLUMNS], y[ROWS], v[COLUMNS], s[1];
  int n = 0, wrong = 0;
  for (int j = 0; j < COLUMNS; ++j) {
    x[j] = j % 7 - 3;
    v[j] = j % 5;
  }
  for (int i = 0; i < ROWS; ++i) {
    for (int k = 0; k < i; ++k) {
      crd[n] = k + (COLUMNS - ROWS) * (k > i / 2);
      values[n++] = (i * k) % 11 - 5;
    }
    pos[i + 1] = n;
  }
  if (spmv_raw(ROWS, COLUMNS, pos, crd, values, x, y) != TULLE_OK || dot_raw(COLUMNS, v, x, s) != TULLE_OK)
    return 1;
  double product = 0;
  for (int j = 0; j < COLUMNS; ++j)
    product += v[j] * x[j];
  for (int i = 0; i < ROWS; ++i) {
    double sum = 0;
    for (int k = pos[i]; k < pos[i + 1]; ++k)
      sum += values[k] * x[crd[k]];
    wrong += sum != y[i];
  }
  printf("%ld bits: %d rows wrong, product %s\n", vector_bits(), wrong, s[0] == product ? "right" : "wrong");
  return 0;
}
