// Calls the kernels of tulle-lower-loops-sets.test, whose matrices stand there, and prints what they write.
memref.global "private" constant @A_pos : memref<4xi32> = dense<[0, 3, 3, 5]>
memref.global "private" constant @A_crd : memref<5xi32> = dense<[0, 2, 4, 1, 3]>
memref.global "private" constant @A_val : memref<5xf64> = dense<[1.0, 2.0, 3.0, 4.0, 5.0]>
memref.global "private" constant @A_ends : memref<2xi32> = dense<[0, 5]>
memref.global "private" constant @A_both : memref<10xi32> = dense<[0, 0, 0, 2, 0, 4, 2, 1, 2, 3]>
memref.global "private" constant @A_some : memref<2xi32> = dense<[0, 2]>
memref.global "private" constant @A_rows : memref<2xi32> = dense<[0, 2]>
memref.global "private" constant @A_parts : memref<3xi32> = dense<[0, 3, 5]>
memref.global "private" constant @B_pos : memref<4xi32> = dense<[0, 2, 3, 6]>
memref.global "private" constant @B_crd : memref<6xi32> = dense<[2, 3, 0, 1, 3, 4]>
memref.global "private" constant @B_val : memref<6xf64> = dense<[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]>
memref.global "private" constant @B_ends : memref<2xi32> = dense<[0, 6]>
memref.global "private" constant @B_both : memref<12xi32> = dense<[0, 2, 0, 3, 1, 0, 2, 1, 2, 3, 2, 4]>
memref.global "private" constant @B_some : memref<2xi32> = dense<[0, 3]>
memref.global "private" constant @B_rows : memref<3xi32> = dense<[0, 1, 2]>
memref.global "private" constant @B_parts : memref<4xi32> = dense<[0, 2, 3, 6]>
memref.global "private" constant @C_pos : memref<4xi32> = dense<[0, 2, 3, 4]>
memref.global "private" constant @C_crd : memref<4xi32> = dense<[2, 4, 0, 3]>
memref.global "private" constant @C_val : memref<4xf64> = dense<[100.0, 200.0, 300.0, 400.0]>
func.func private @printMemrefF64(memref<*xf64>) attributes {llvm.emit_c_interface}

func.func @main() {
  %A_pos_g = memref.get_global @A_pos : memref<4xi32>
  %A_pos = memref.cast %A_pos_g : memref<4xi32> to memref<?xi32>
  %A_crd_g = memref.get_global @A_crd : memref<5xi32>
  %A_crd = memref.cast %A_crd_g : memref<5xi32> to memref<?xi32>
  %A_val_g = memref.get_global @A_val : memref<5xf64>
  %A_val = memref.cast %A_val_g : memref<5xf64> to memref<?xf64>
  %A_ends_g = memref.get_global @A_ends : memref<2xi32>
  %A_ends = memref.cast %A_ends_g : memref<2xi32> to memref<?xi32>
  %A_both_g = memref.get_global @A_both : memref<10xi32>
  %A_both = memref.cast %A_both_g : memref<10xi32> to memref<?xi32>
  %A_some_g = memref.get_global @A_some : memref<2xi32>
  %A_some = memref.cast %A_some_g : memref<2xi32> to memref<?xi32>
  %A_rows_g = memref.get_global @A_rows : memref<2xi32>
  %A_rows = memref.cast %A_rows_g : memref<2xi32> to memref<?xi32>
  %A_parts_g = memref.get_global @A_parts : memref<3xi32>
  %A_parts = memref.cast %A_parts_g : memref<3xi32> to memref<?xi32>
  %B_pos_g = memref.get_global @B_pos : memref<4xi32>
  %B_pos = memref.cast %B_pos_g : memref<4xi32> to memref<?xi32>
  %B_crd_g = memref.get_global @B_crd : memref<6xi32>
  %B_crd = memref.cast %B_crd_g : memref<6xi32> to memref<?xi32>
  %B_val_g = memref.get_global @B_val : memref<6xf64>
  %B_val = memref.cast %B_val_g : memref<6xf64> to memref<?xf64>
  %B_ends_g = memref.get_global @B_ends : memref<2xi32>
  %B_ends = memref.cast %B_ends_g : memref<2xi32> to memref<?xi32>
  %B_both_g = memref.get_global @B_both : memref<12xi32>
  %B_both = memref.cast %B_both_g : memref<12xi32> to memref<?xi32>
  %B_some_g = memref.get_global @B_some : memref<2xi32>
  %B_some = memref.cast %B_some_g : memref<2xi32> to memref<?xi32>
  %B_rows_g = memref.get_global @B_rows : memref<3xi32>
  %B_rows = memref.cast %B_rows_g : memref<3xi32> to memref<?xi32>
  %B_parts_g = memref.get_global @B_parts : memref<4xi32>
  %B_parts = memref.cast %B_parts_g : memref<4xi32> to memref<?xi32>
  %C_pos_g = memref.get_global @C_pos : memref<4xi32>
  %C_pos = memref.cast %C_pos_g : memref<4xi32> to memref<?xi32>
  %C_crd_g = memref.get_global @C_crd : memref<4xi32>
  %C_crd = memref.cast %C_crd_g : memref<4xi32> to memref<?xi32>
  %C_val_g = memref.get_global @C_val : memref<4xf64>
  %C_val = memref.cast %C_val_g : memref<4xf64> to memref<?xf64>
  %rows = arith.constant 3 : index
  %columns = arith.constant 5 : index
  %y_memory = memref.alloc() : memref<3xf64>
  %y = memref.cast %y_memory : memref<3xf64> to memref<?xf64>
  %y_any = memref.cast %y_memory : memref<3xf64> to memref<*xf64>
  %Y_memory = memref.alloc() : memref<15xf64>
  %Y = memref.cast %Y_memory : memref<15xf64> to memref<?xf64>
  %Y_any = memref.cast %Y_memory : memref<15xf64> to memref<*xf64>
  call @intersection(%A_pos, %A_crd, %A_val, %rows, %columns, %B_pos, %B_crd, %B_val, %rows, %columns, %y, %rows) : (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index) -> ()
  call @printMemrefF64(%y_any) : (memref<*xf64>) -> ()
  call @union(%A_pos, %A_crd, %A_val, %rows, %columns, %B_pos, %B_crd, %B_val, %rows, %columns, %Y, %rows, %columns) : (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index, index) -> ()
  call @printMemrefF64(%Y_any) : (memref<*xf64>) -> ()
  call @difference(%A_pos, %A_crd, %A_val, %rows, %columns, %B_pos, %B_crd, %B_val, %rows, %columns, %Y, %rows, %columns) : (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index, index) -> ()
  call @printMemrefF64(%Y_any) : (memref<*xf64>) -> ()
  call @complement(%A_pos, %A_crd, %A_val, %rows, %columns, %Y, %rows, %columns) : (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index, index) -> ()
  call @printMemrefF64(%Y_any) : (memref<*xf64>) -> ()
  call @three(%A_pos, %A_crd, %A_val, %rows, %columns, %B_pos, %B_crd, %B_val, %rows, %columns, %C_pos, %C_crd, %C_val, %rows, %columns, %y, %rows) : (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index) -> ()
  call @printMemrefF64(%y_any) : (memref<*xf64>) -> ()
  call @rows(%A_some, %A_rows, %A_parts, %A_crd, %A_val, %rows, %columns, %B_some, %B_rows, %B_parts, %B_crd, %B_val, %rows, %columns, %y, %rows) : (memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index) -> ()
  call @printMemrefF64(%y_any) : (memref<*xf64>) -> ()
  call @segments(%A_ends, %A_both, %A_val, %rows, %columns, %y, %rows) : (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index) -> ()
  call @printMemrefF64(%y_any) : (memref<*xf64>) -> ()
  call @merged_segments(%A_ends, %A_both, %A_val, %rows, %columns, %B_ends, %B_both, %B_val, %rows, %columns, %y, %rows) : (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index, memref<?xf64>, index) -> ()
  call @printMemrefF64(%y_any) : (memref<*xf64>) -> ()
  return
}
