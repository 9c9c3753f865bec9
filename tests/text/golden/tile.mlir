// Every operation of the common IR's dialect, in its custom form.
module {
  tile.func private @helper(%a: i32, %b: f32) -> (i32, f32) {
    tile.return %a, %b : i32, f32
  }
  tile.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16>, %n: i32, %m: i64, %ip: !tt.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %x = arith.constant 1.5 : f32
    %pid = tile.program_id x : i32
    %count = tile.num_programs z : i32
    %r:2 = tile.call @helper(%pid, %x) : (i32, f32) -> (i32, f32)
    %i = tile.iota {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %s = tile.splat %r#0 : i32 -> tensor<16xi32>
    %scalar1 = tile.splat %n : i32 -> tensor<1xi32>
    %back = tile.unsplat %scalar1 : tensor<1xi32>
    %col = tile.reshape %i : tensor<16xi32> -> tensor<16x1xi32>
    %sq = tile.broadcast %col : tensor<16x1xi32> -> tensor<16x16xi32>
    %t = tile.permute %col {order = array<i32: 1, 0>} : tensor<16x1xi32> -> tensor<1x16xi32>
    %j = tile.join %i, %s : tensor<16xi32> -> tensor<16x2xi32>
    %lo, %hi = tile.split %j : tensor<16x2xi32> -> tensor<16xi32>
    %cat = tile.concat %lo, %hi : (tensor<16xi32>, tensor<16xi32>) -> tensor<32xi32>
    %taken = tile.take %i[%s] {axis = 0 : i32} : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
    %mask = arith.cmpi slt, %i, %s : tensor<16xi32>
    %hist = tile.histogram %i mask %mask : tensor<16xi32> -> tensor<8xi32>
    %hist2 = tile.histogram %i : tensor<16xi32> -> tensor<8xi32>
    %ps = tile.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %q = tile.ptr_add %ps, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %int = tile.ptr_to_int %q : tensor<16x!tt.ptr<f32>> -> tensor<16xi64>
    %q2 = tile.int_to_ptr %int : tensor<16xi64> -> tensor<16x!tt.ptr<f32>>
    %bits = tile.bitcast %x : f32 -> i32
    %half = tile.convert %x rounding = rtz : f32 -> f16
    %half2 = tile.convert %x : f32 -> f16
    %clamped = tile.clampf %x, %x, %x propagateNan = all : f32
    %high = tile.mulhiui %i, %s : tensor<16xi32>
    %ext = tile.extern "__nv_tanhf"(%x) {libname = "libdevice", libpath = ""} : (f32) -> f32
    %asm = tile.inline_asm "mov.b32 $0, $1;", "=r,r"(%i) {pure = true} : (tensor<16xi32>) -> tensor<16xi32>
    %v = tile.load %q : tensor<16x!tt.ptr<f32>>
    %w = tile.load %q mask %mask other %v oob = mask {cache = 3 : i32} : tensor<16x!tt.ptr<f32>>
    tile.store %q, %w : tensor<16x!tt.ptr<f32>>
    tile.store %q, %w mask %mask oob = skip : tensor<16x!tt.ptr<f32>>
    %old = tile.atomic_rmw fadd, acq_rel, gpu, %q, %w mask %mask : tensor<16x!tt.ptr<f32>>
    %cas = tile.atomic_cas relaxed, sys, %p, %x, %x : !tt.ptr<f32>
    %flag = tile.atomic_load acquire, gpu, %q mask %mask : tensor<16x!tt.ptr<f32>>
    tile.atomic_store release, gpu, %q, %w mask %mask : tensor<16x!tt.ptr<f32>>
    %there = tile.atomic_poll acquire, gpu, %ip, %n timeout %m : !tt.ptr<i32>
    %view = tile.view %h[%m, %m][%m, %one][] {padding = 2 : i32} : (!tt.ptr<f16>, i64, i64, i64, i64) -> !tile.view<16x16xf16>
    %block = tile.view %h[%m, %m][%m, %one][%zero, %pid] {order = array<i32: 1, 0>} : (!tt.ptr<f16>, i64, i64, i64, i64, i32, i32) -> !tile.view<16x16xf16>
    %next = tile.view_advance %block[%zero, %n] : (!tile.view<16x16xf16>, i32, i32) -> !tile.view<16x16xf16>
    %a = tile.view_load %view[%zero, %n] : (!tile.view<16x16xf16>, i32, i32) -> tensor<16x16xf16>
    %b = tile.view_load %next[] oob = error {boundaryCheck = array<i32: 0>} : (!tile.view<16x16xf16>) -> tensor<16x16xf16>
    tile.view_store %view[%zero, %n], %a : (!tile.view<16x16xf16>, tensor<16x16xf16>, i32, i32) -> ()
    tile.view_reduce add, %view[%zero, %n], %a : (!tile.view<16x16xf16>, tensor<16x16xf16>, i32, i32) -> ()
    %rows = tile.view_gather %view[%i, %n] : (!tile.view<16x16xf16>, tensor<16xi32>, i32) -> tensor<16x16xf16>
    tile.view_scatter %view[%i, %n], %rows : (!tile.view<16x16xf16>, tensor<16xi32>, i32, tensor<16x16xf16>) -> ()
    %acc = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tile.dot %a, %b, %acc, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %fp8 = arith.constant dense<0> : tensor<16x32xi8>
    %fp4 = arith.constant dense<0> : tensor<16x16xi8>
    %scale = arith.constant dense<127> : tensor<16x1xi8>
    %ds = tile.dot_scaled %fp8 scale %scale, %fp4 scale %scale, %acc lhs = e4m3 rhs = e2m1 : tensor<16x32xi8>, tensor<16x1xi8> * tensor<16x16xi8>, tensor<16x1xi8> -> tensor<16x16xf32>
    %sum = "tile.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %o: f32):
      %add = arith.addf %l, %o : f32
      tile.yield %add : f32
    }) : (tensor<16x16xf32>) -> tensor<16xf32>
    %scan = "tile.scan"(%d) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%l: f32, %o: f32):
      %add = arith.addf %l, %o : f32
      tile.yield %add : f32
    }) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %mapped = "tile.map"(%d) <{pack = 2 : i32}> ({
    ^bb0(%l: f32, %o: f32):
      tile.yield %o, %l : f32, f32
    }) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %positive = arith.cmpi sge, %n, %zero : i32
    tile.print "x: " {hex = true, isSigned = array<i32: 1>} : %n : i32
    tile.print "here"
    tile.assert %mask, "in range" : tensor<16xi1>
    tile.assume %positive : i1
    tile.barrier
    tile.return
  }
}
