/* The matrix in blocks of two rows and two columns. */
#include <stdlib.h>

#include "csr_to_bcsr.h"

#include "matrix.h"

int main(void) {
  tulle_buffer arrays[3];
  tulle_tensor A = csr(arrays), B;
  char error[200];
  memset(&B, 0, sizeof B);
  if (csr_to_bcsr(&A, &B, 0) != TULLE_OK)
    return 1;
  print_integers("pos[1]", &B.buffers[0]), print_integers("crd[1]", &B.buffers[1]), print_values(&B.buffers[2]);
  printf("%d x %d\n", (int)B.dims[0], (int)B.dims[1]);
  B.release(B.owner);
  arrays[0].count = 3;
  printf("%d\n", csr_to_bcsr_check(&A, error, sizeof error));
  printf("%s\n", error);
  return 0;
}
