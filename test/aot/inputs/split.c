/* A product with a matrix in two parts: its first two diagonals, and what is beside them. */
#include <stdlib.h>

#include "near.h"

#include "rest.h"

#include "split.h"

#include "matrix.h"

int main(void) {
  int32_t of_diagonals[] = {0, 1, 1, 2}, columns[] = {0, 3};
  double first[] = {2, 0.25}, ones[] = {1, 10, 100, 1000}, product[3];
  int32_t beside[] = {0, 1, 1, 2}, others[] = {2, 1};
  double second[] = {-1.5, 4};
  tulle_buffer arrays[2][3], of_x, of_y;
  const int64_t sizes[] = {4, 3};
  tulle_tensor A = csr(arrays[0]), B = csr(arrays[1]), x = vector(&of_x, ones, sizes),
               y = vector(&of_y, product, sizes + 1), dia, rest_;
  arrays[0][0].data = of_diagonals, arrays[0][1].data = columns, arrays[0][2].data = first;
  arrays[1][0].data = beside, arrays[1][1].data = others, arrays[1][2].data = second;
  arrays[0][1].count = arrays[0][2].count = arrays[1][1].count = arrays[1][2].count = 2;
  memset(&dia, 0, sizeof dia), memset(&rest_, 0, sizeof rest_);
  if (near(&A, &dia, 0) != TULLE_OK || rest(&B, &rest_, 0) != TULLE_OK ||
      split(&x, &dia, &rest_, &y, 0) != TULLE_OK)
    return 1;
  print_values(&of_y);
  dia.release(dia.owner), rest_.release(rest_.owner);
  return 0;
}
