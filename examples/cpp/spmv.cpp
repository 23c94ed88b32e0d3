// Reads a matrix in two formats, multiplies it with a vector, and compares with a loop over the file's own
// entries.
#include <cmath>
#include <cstdio>
#include <tulle/tulle.h>

static int fail(const char *what) {
  std::fprintf(stderr, "wrong: %s\n", what);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: spmv MATRIX.mtx\n");
    return 1;
  }
  try {
    auto A = tulle::read<double>(argv[1], tulle::CSR);
    auto x = tulle::full<double>({A.dim(1)}, 1.0);
    auto spmv = tulle::compile("y(i) = A(i,j) * x(j)", {{"A", A.type()}, {"x", x.type()}});
    tulle::Tensor<double> y = spmv(A, x);

    // The buffers of the format are in reach: row sums in a loop of our own.
    auto positions = static_cast<const int32_t *>(A.positions(1).data);
    for (int64_t row = 0; row < A.dim(0); ++row) {
      double sum = 0;
      for (int32_t p = positions[row]; p < positions[row + 1]; ++p)
        sum += A.values()[p];
      if (std::abs(sum - y.values()[row]) > 1e-12 * (1 + std::abs(sum)))
        return fail("y is not the row sums");
    }

    // Another format: same answer, other storage.
    auto B = A.to(tulle::BCSR(2, 3));
    auto blocked = tulle::compile("y(i) = A(i,j) * x(j)", {{"A", B.type()}, {"x", x.type()}});
    tulle::Tensor<double> z = blocked(B, x);
    for (int64_t row = 0; row < A.dim(0); ++row)
      if (std::abs(z.values()[row] - y.values()[row]) > 1e-12 * (1 + std::abs(y.values()[row])))
        return fail("CSR and BCSR(2,3) disagree");

    std::printf("%lld rows, CSR %lld bytes, BCSR(2,3) %lld bytes: equal\n", (long long)A.dim(0),
                (long long)A.bytes(), (long long)B.bytes());
  } catch (const tulle::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  // What is wrong comes back as a tulle::Error that points into the text.
  try {
    tulle::compile("y(i) = A(i,k) * x(j)",
                   {{"A", {.format = tulle::CSR, .dims = {2, 3}}}, {"x", {.dims = {4}}}});
    tulle::Tensor<float> wrong = tulle::zeros<double>({2});
    return fail("a wrong element type was accepted");
  } catch (const tulle::Error &) {
  }
  return 0;
}
