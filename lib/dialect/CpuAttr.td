// #tulle.cpu.

def Tulle_CpuParameter : AttrParameter<"::tulle::iteration::Cpu", "", "const ::tulle::iteration::Cpu &">;

def Tulle_CpuAttr : AttrDef<Tulle_Dialect, "Cpu"> {
  let mnemonic = "cpu";
  let summary = "The processor that code is planned for: a row of the table of processors, and what differs from it";
  let description = [{
    The rows are those of `lib/iteration/Cpus.cpp`, named as LLVM names processors and levels of architectures. A figure
    stands in the text where it is not the row's, as sizes of caches that were read from a machine.

    ```mlir
    module attributes {tulle.cpu = #tulle.cpu<znver5>} {}
    module attributes {tulle.cpu = #tulle.cpu<x86-64-v3, l2 = 524288>} {}
    ```
  }];
  let parameters = (ins Tulle_CpuParameter:$value);
  let hasCustomAssemblyFormat = 1;
}
