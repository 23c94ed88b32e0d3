#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @imported(%a: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #CSR> {
  return %a : tensor<4x6xf64, #CSR>
}
