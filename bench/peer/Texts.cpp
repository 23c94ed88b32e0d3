#include "MlirSparsifier.h"
#include <fmt/format.h>

namespace tulle::bench {

// Everything is marked restrict and the sparse buffers writable, so that MLIR copies nothing: only its loops
// are timed.
/// Assembles tensor `name` of type `type` from `levelBuffers` index buffers `name0`, … and values `namev`.
/// Of list k of a tensor's levels. `columns`: how many coordinates stand together in lists of coordinates.
static std::string listShape(unsigned k, unsigned columns) {
  return k > 0 && columns > 1 ? fmt::format("<?x{}xi32>", columns) : "<?xi32>";
}

static std::string assembled(const std::string &name, const std::string &type, unsigned levelBuffers,
                             unsigned columns = 1) {
  std::string text, operands, types;
  for (unsigned k = 0; k < levelBuffers; ++k) {
    const std::string shape = listShape(k, columns);
    text += fmt::format(
        "  %{0}t{1} = bufferization.to_tensor %{0}{1} restrict writable : memref{2} to tensor{2}\n", name, k,
        shape);
    operands += fmt::format("{}%{}t{}", k ? ", " : "", name, k);
    types += (k ? ", tensor" : "tensor") + shape;
  }
  return text +
         fmt::format(
             "  %{0}tv = bufferization.to_tensor %{0}v restrict writable : memref<?xf64> to "
             "tensor<?xf64>\n  %{0} = sparse_tensor.assemble ({1}), %{0}tv : ({2}), tensor<?xf64> to {3}\n",
             name, operands, types, type);
}

static std::string parameters(const std::string &name, unsigned levelBuffers, unsigned columns = 1) {
  std::string text;
  for (unsigned k = 0; k < levelBuffers; ++k)
    text += fmt::format("%{}{}: memref{}, ", name, k, listShape(k, columns));
  return text + fmt::format("%{}v: memref<?xf64>, ", name);
}

static std::string encoding(const std::string &name, const std::string &map) {
  return fmt::format("#{} = #sparse_tensor.encoding<{{ map = {}, posWidth = 32, crdWidth = 32 }}>\n", name,
                     map);
}

const char *csrMap = "(i, j) -> (i : dense, j : compressed)";

/// `result` = A * dense operands; the loops and subscripts are given, A's first.
static std::string product(const MlirMatrix &a, const std::vector<std::string> &operands,
                           const std::string &result, const std::string &maps, const std::string &iterators) {
  const std::string type = fmt::format("tensor<{}xf64, #F>", a.shape);
  std::string text = encoding("F", a.map) + "func.func @kernel(" + parameters("A", a.levelBuffers);
  for (size_t k = 0; k < operands.size(); ++k)
    text += fmt::format("%x{}m: memref<{}xf64>, ", k, operands[k]);
  text += fmt::format("%ym: memref<{}xf64>) attributes {{ llvm.emit_c_interface }} {{\n", result) +
          assembled("A", type, a.levelBuffers);
  std::string ins = "%A", types = type, arguments = "%a: f64", factor = "%a";
  std::string body;
  for (size_t k = 0; k < operands.size(); ++k) {
    text += fmt::format(
        "  %x{0} = bufferization.to_tensor %x{0}m restrict : memref<{1}xf64> to tensor<{1}xf64>\n", k,
        operands[k]);
    ins += fmt::format(", %x{}", k);
    types += fmt::format(", tensor<{}xf64>", operands[k]);
    arguments += fmt::format(", %b{}: f64", k);
    body += fmt::format("      %m{} = arith.mulf {}, %b{} : f64\n", k, factor, k);
    factor = fmt::format("%m{}", k);
  }
  return text + fmt::format(R"(  %zero = arith.constant 0.0 : f64
  %old = bufferization.to_tensor %ym restrict writable : memref<{0}xf64> to tensor<{0}xf64>
  %y = linalg.fill ins(%zero : f64) outs(%old : tensor<{0}xf64>) -> tensor<{0}xf64>
  %r = linalg.generic {{ indexing_maps = [{1}], iterator_types = [{2}] }}
    ins({3} : {4}) outs(%y : tensor<{0}xf64>) {{
    ^bb0({5}, %o: f64):
{6}      %s = arith.addf %o, {7} : f64
      linalg.yield %s : f64
  }} -> tensor<{0}xf64>
  bufferization.materialize_in_destination %r in restrict writable %ym : (tensor<{0}xf64>, memref<{0}xf64>) -> ()
  return
}}
)",
                            result, maps, iterators, ins, types, arguments, body, factor);
}

std::string spmvText(const MlirMatrix &a, int64_t rows, int64_t columns) {
  return product(a, {fmt::format("{}", columns)}, fmt::format("{}", rows),
                 "affine_map<(i,j) -> (i,j)>, affine_map<(i,j) -> (j)>, affine_map<(i,j) -> (i)>",
                 R"("parallel", "reduction")");
}

std::string spmmText(const MlirMatrix &a, int64_t rows, int64_t columns, int64_t n) {
  return product(a, {fmt::format("{}x{}", columns, n)}, fmt::format("{}x{}", rows, n),
                 "affine_map<(i,j,k) -> (i,j)>, affine_map<(i,j,k) -> (j,k)>, affine_map<(i,j,k) -> (i,k)>",
                 R"("parallel", "reduction", "parallel")");
}

std::string levelMap(const std::vector<size_t> &dims, const char *first, const char *between,
                     const char *last) {
  std::string names, levels;
  for (size_t l = 0; l < dims.size(); ++l) {
    names += fmt::format("{}d{}", l ? ", " : "", l);
    levels += fmt::format("{}d{} : {}", l ? ", " : "", dims[l],
                          l == 0                ? first
                          : l + 1 < dims.size() ? between
                                                : last);
  }
  return fmt::format("({}) -> ({})", names, levels);
}

std::string mttkrpText(const MlirMatrix &a, const std::vector<int64_t> &dims, int64_t n) {
  std::string all, own = "d0", kinds = "\"parallel\"", maps;
  for (size_t d = 1; d < dims.size(); ++d) {
    own += fmt::format(", d{}", d);
    kinds += ", \"reduction\"";
  }
  all = own + ", r";
  auto map = [&](const std::string &to) { return fmt::format("affine_map<({}) -> ({})>", all, to); };
  maps = map(own);
  std::vector<std::string> factors;
  for (size_t d = 1; d < dims.size(); ++d) {
    factors.push_back(fmt::format("{}x{}", dims[d], n));
    maps += ", " + map(fmt::format("d{}, r", d));
  }
  return product(a, factors, fmt::format("{}x{}", dims[0], n), maps + ", " + map("d0, r"),
                 kinds + ", \"parallel\"");
}

std::string dotText(int64_t size) {
  const std::string type = fmt::format("tensor<{}xf64, #V>", size);
  return encoding("V", "(i) -> (i : compressed)") + "func.func @kernel(" + parameters("A", 2) +
         parameters("B", 2) + "%sm: memref<f64>) attributes { llvm.emit_c_interface } {\n" +
         assembled("A", type, 2) + assembled("B", type, 2) +
         fmt::format(R"(  %zero = arith.constant 0.0 : f64
  %old = bufferization.to_tensor %sm restrict writable : memref<f64> to tensor<f64>
  %s0 = linalg.fill ins(%zero : f64) outs(%old : tensor<f64>) -> tensor<f64>
  %r = linalg.generic {{ indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                        iterator_types = ["reduction"] }}
    ins(%A, %B : {0}, {0}) outs(%s0 : tensor<f64>) {{
    ^bb0(%a: f64, %b: f64, %o: f64):
      %m = arith.mulf %a, %b : f64
      %s = arith.addf %o, %m : f64
      linalg.yield %s : f64
  }} -> tensor<f64>
  bufferization.materialize_in_destination %r in restrict writable %sm : (tensor<f64>, memref<f64>) -> ()
  return
}}
)",
                     type);
}

std::string sddmmText(int64_t rows, int64_t columns, int64_t n) {
  return encoding("CSR", csrMap) + "func.func @kernel(" + parameters("A", 2) +
         fmt::format("%dm: memref<{0}x{2}xf64>, %em: memref<{1}x{2}xf64>) -> memref<?xf64> attributes {{ "
                     "llvm.emit_c_interface }} {{\n",
                     rows, columns, n) +
         assembled("A", fmt::format("tensor<{}x{}xf64, #CSR>", rows, columns), 2) +
         fmt::format(R"(  %zero = arith.constant 0.0 : f64
  %d = bufferization.to_tensor %dm restrict : memref<{0}x{2}xf64> to tensor<{0}x{2}xf64>
  %e = bufferization.to_tensor %em restrict : memref<{1}x{2}xf64> to tensor<{1}x{2}xf64>
  %r = linalg.generic {{
    indexing_maps = [affine_map<(i,j,k) -> (i,k)>, affine_map<(i,j,k) -> (j,k)>, affine_map<(i,j,k) -> (i,j)>],
    iterator_types = ["parallel", "parallel", "reduction"] }}
    ins(%d, %e : tensor<{0}x{2}xf64>, tensor<{1}x{2}xf64>) outs(%A : tensor<{0}x{1}xf64, #CSR>) {{
    ^bb0(%a: f64, %b: f64, %o: f64):
      %u = sparse_tensor.unary %o : f64 to f64
        present={{ ^bb0(%q: f64):
          %m = arith.mulf %a, %b : f64
          sparse_tensor.yield %m : f64 }}
        absent={{}}
      %s = sparse_tensor.reduce %o, %u, %zero : f64 {{ ^bb0(%f: f64, %g: f64):
          %t = arith.addf %f, %g : f64
          sparse_tensor.yield %t : f64 }}
      linalg.yield %s : f64
  }} -> tensor<{0}x{1}xf64, #CSR>
  %values = sparse_tensor.values %r : tensor<{0}x{1}xf64, #CSR> to memref<?xf64>
  return %values : memref<?xf64>
}}
)",
                     rows, columns, n);
}

/// Counts the entries of %C, frees it, and ends the function.
static std::string counted(const std::string &type) {
  return fmt::format(R"(  %n = sparse_tensor.number_of_entries %C : {0}
  %zero = arith.constant 0 : index
  memref.store %n, %count[%zero] : memref<1xindex>
  bufferization.dealloc_tensor %C : {0}
  return
}}
)",
                     type);
}

std::string conversionText(int64_t rows, int64_t columns, const std::string &from, unsigned levelBuffers,
                           const std::string &to) {
  const std::string source = fmt::format("tensor<{}x{}xf64, #F>", rows, columns),
                    target = fmt::format("tensor<{}x{}xf64, #T>", rows, columns);
  return fmt::format(
             "#F = #sparse_tensor.encoding<{{ map = {}, posWidth = 32, crdWidth = 32 }}>\n"
             "#T = #sparse_tensor.encoding<{{ map = {}, posWidth = 32, crdWidth = 32 }}>\n"
             "func.func @kernel({}%count: memref<1xindex>) attributes {{ llvm.emit_c_interface }} {{\n",
             from, to, parameters("A", levelBuffers)) +
         assembled("A", source, levelBuffers) +
         fmt::format("  %C = sparse_tensor.convert %A : {} to {}\n", source, target) + counted(target);
}

std::string packedConversionText(const std::string &shape, const std::string &from, unsigned levelBuffers,
                                 unsigned columns, const std::string &to) {
  const std::string source = fmt::format("tensor<{}xf64, #F>", shape),
                    target = fmt::format("tensor<{}xf64, #T>", shape);
  std::string buffers = parameters("A", levelBuffers, columns);
  buffers.resize(buffers.size() - 2); // the last comma
  const std::string c = " attributes { llvm.emit_c_interface } {\n";
  return encoding("F", from) + encoding("T", to) + "func.func @pack(" + buffers + ") -> " + source + c +
         assembled("A", source, levelBuffers, columns) + "  return %A : " + source +
         "\n}\nfunc.func @release(%A: " + source + ")" + c + "  bufferization.dealloc_tensor %A : " + source +
         "\n  return\n}\nfunc.func @kernel(%A: " + source + ", %count: memref<1xindex>)" + c +
         fmt::format("  %C = sparse_tensor.convert %A : {} to {}\n", source, target) + counted(target);
}

/// C = expression of A and B, in CSR.
static std::string binary(int64_t rows, int64_t inner, int64_t columns, const std::string &maps,
                          const std::string &iterators, const std::string &body) {
  const std::string a = fmt::format("tensor<{}x{}xf64, #CSR>", rows, inner),
                    b = fmt::format("tensor<{}x{}xf64, #CSR>", inner == columns ? rows : inner, columns),
                    c = fmt::format("tensor<{}x{}xf64, #CSR>", rows, columns);
  return fmt::format(
             "#CSR = #sparse_tensor.encoding<{{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, "
             "crdWidth = 32 }}>\nfunc.func @kernel({}{}%count: memref<1xindex>) attributes {{ "
             "llvm.emit_c_interface }} {{\n",
             parameters("A", 2), parameters("B", 2)) +
         assembled("A", a, 2) + assembled("B", b, 2) +
         fmt::format(R"(  %empty = tensor.empty() : {2}
  %C = linalg.generic {{ indexing_maps = [{3}], iterator_types = [{4}] }}
    ins(%A, %B : {0}, {1}) outs(%empty : {2}) {{
    ^bb0(%x: f64, %y: f64, %o: f64):
{5}  }} -> {2}
)",
                     a, b, c, maps, iterators, body) +
         counted(c);
}

std::string sumText(int64_t rows, int64_t columns) {
  return binary(rows, columns, columns,
                "affine_map<(i,j) -> (i,j)>, affine_map<(i,j) -> (i,j)>, affine_map<(i,j) -> (i,j)>",
                R"("parallel", "parallel")",
                "      %s = arith.addf %x, %y : f64\n      linalg.yield %s : f64\n");
}

std::string spgemmText(int64_t size) {
  return binary(size, size, size,
                "affine_map<(i,k,j) -> (i,k)>, affine_map<(i,k,j) -> (k,j)>, affine_map<(i,k,j) -> (i,j)>",
                R"("parallel", "reduction", "parallel")",
                "      %m = arith.mulf %x, %y : f64\n      %s = arith.addf %o, %m : f64\n      linalg.yield "
                "%s : f64\n");
}

} // namespace tulle::bench
