#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 32 }>
#dense = #tulle.encoding<{ map = (i) -> (i : dense), posWidth = 32, crdWidth = 32 }>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0)>
module attributes {tulle.cpu = #tulle.cpu<znver5>} {
  func.func @statement0(%A: tensor<?x?xf64, #CSC> {tulle.name = "A"}, %x: tensor<?xf64, #dense> {tulle.name = "x"}, %y: tensor<?xf64, #dense> {tulle.name = "y", tulle.statement = 0 : i64}) -> (tensor<?xf64, #dense> {tulle.name = "y"}) {
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tulle.fill %cst, %y : f64, tensor<?xf64, #dense>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction"]} ins(%A, %x : tensor<?x?xf64, #CSC>, tensor<?xf64, #dense>) outs(%0 : tensor<?xf64, #dense>) attrs =  {tulle.indices = ["i", "j"]} {
    ^bb0(%A_0: f64, %x_1: f64, %out: f64):
      %2 = arith.mulf %A_0, %x_1 fastmath<reassoc,contract> : f64
      %3 = arith.addf %out, %2 fastmath<reassoc,contract> : f64
      linalg.yield %3 : f64
    } -> tensor<?xf64, #dense>
    return %1 : tensor<?xf64, #dense>
  }
}
