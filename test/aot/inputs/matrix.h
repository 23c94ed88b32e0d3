/* The matrix of matrix.mtx in CSR, and what tests do with tensors. */
#ifndef MATRIX_H
#define MATRIX_H
#include <stdio.h>
#include <string.h>
/* after a kernel's header */

static int32_t pos[] = {0, 2, 2, 4}, crd[] = {0, 2, 1, 3};
static double values[] = {2, -1.5, 4, 0.25};
static int64_t dims[] = {3, 4};

static tulle_tensor csr(tulle_buffer buffers[3]) {
  tulle_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  buffers[0].data = pos, buffers[0].count = 4, buffers[0].width = 32, buffers[0].kind = TULLE_POSITIONS;
  buffers[1].data = crd, buffers[1].count = 4, buffers[1].width = 32, buffers[1].kind = TULLE_COORDINATES;
  buffers[2].data = values, buffers[2].count = 4, buffers[2].width = 64, buffers[2].kind = TULLE_F64;
  tensor.abi = 1, tensor.order = 2, tensor.levels = 2, tensor.nbuffers = 3;
  tensor.dims = dims, tensor.buffers = buffers;
  return tensor;
}

static tulle_tensor vector(tulle_buffer *buffer, double *data, const int64_t *size) {
  tulle_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  buffer->data = data, buffer->count = *size, buffer->width = 64, buffer->kind = TULLE_F64;
  tensor.abi = 1, tensor.order = 1, tensor.levels = 1, tensor.nbuffers = 1;
  tensor.dims = size, tensor.buffers = buffer;
  return tensor;
}

static void print_integers(const char *name, const tulle_buffer *buffer) {
  int64_t k;
  printf("%s : (", name);
  for (k = 0; k < buffer->count; ++k)
    printf("%s %d", k ? "," : "", (int)((const int32_t *)buffer->data)[k]);
  printf(" )\n");
}

static void print_values(const tulle_buffer *buffer) {
  int64_t k;
  printf("values : (");
  for (k = 0; k < buffer->count; ++k)
    printf("%s %g", k ? "," : "", ((const double *)buffer->data)[k]);
  printf(" )\n");
}
#endif
