tt.func @f(%x: f32) {
  // expected-error @+1 {{'arith.addi': operand 'lhs' must be an integer or index}}
  %y = arith.addi %x, %x : f32
  tt.return
}
// -----
tt.func @f(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'%m' has type tensor<4xi1>, but tensor<8xi1> is expected here}}
  %y = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  tt.return
}
// -----
tt.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{gives no type for result}}
  %y = tt.load %x : tensor<8xf32>
  tt.return
}
// -----
tt.func @f(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'tt.trans': order must be a permutation}}
  %y = tt.trans %a {order = array<i32: 0, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  tt.return
}
// -----
tt.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tt.expand_dims' needs attribute 'axis'}}
  %y = tt.expand_dims %a : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}
// -----
tt.func @f(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{does not broadcast}}
  %y = tt.broadcast %a : tensor<8x4xf32> -> tensor<8x8xf32>
  tt.return
}
// -----
tt.func @f(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{must have as many elements}}
  %y = tt.reshape %a : tensor<8x4xf32> -> tensor<8x8xf32>
  tt.return
}
// -----
tt.func @f() {
  // expected-error @+1 {{the result must have 8 elements}}
  %y = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<16xi32>
  tt.return
}
// -----
tt.func @f(%a: tensor<16x8xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{'tt.dot': shapes of}}
  %y = tt.dot %a, %a, %c : tensor<16x8xf16> * tensor<16x8xf16> -> tensor<16x16xf32>
  tt.return
}
// -----
tt.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tt.reduce': the combined values are (i1), expected (f32)}}
  %y = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.cmpf olt, %l, %r : f32
    tt.reduce.return %s : i1
  }) : (tensor<8xf32>) -> f32
  tt.return
}
// -----
tt.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{'tt.reduce': axis 1 is out of range}}
  %y = "tt.reduce"(%a) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    tt.reduce.return %l : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}
// -----
tt.func @f(%n: i32, %x: f32) {
  // expected-error @+1 {{'scf.for': the yielded values are (i32), expected (f32)}}
  %y = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (f32) : i32 {
    scf.yield %i : i32
  }
  tt.return
}
// -----
tt.func @f(%c: i1, %x: f32) {
  // expected-error @+1 {{'scf.if': a result needs an else}}
  %y = scf.if %c -> (f32) {
    scf.yield %x : f32
  }
  tt.return
}
// -----
tt.func @f(%c: i1) {
  scf.if %c {
    // expected-error @+1 {{'tt.return' must be in 'tt.func'}}
    tt.return
  }
  tt.return
}
// -----
tt.func @f() -> i32 {
  // expected-error @+1 {{the returned values are (), expected (i32)}}
  tt.return
}
// -----
tt.func @f() {
  // expected-error @+1 {{there is no function '@g'}}
  tt.call @g() : () -> ()
  tt.return
}
// -----
tt.func @g(i32)
tt.func @f() {
  // expected-error @+1 {{the arguments are (), expected (i32)}}
  tt.call @g() : () -> ()
  tt.return
}
// -----
tt.func @f() {
  tt.return
}
// expected-error @+1 {{redefinition of function '@f'}}
tt.func @f() {
  tt.return
}
// -----
tt.func @f() {
  // expected-error @+1 {{block ends with 'arith.constant', which is no terminator}}
  %c = arith.constant 1 : i32
}
// -----
tt.func @f() {
  // expected-error @+1 {{'tt.return' must be the last operation of its block}}
  tt.return
  tt.return
}
// -----
tt.func @f(%x: i64) {
  // expected-error @+1 {{i32 is not wider than i64}}
  %c = arith.extsi %x : i64 to i32
  tt.return
}
// -----
tt.func @f(%x: i64) {
  // expected-error @+1 {{passes i64 to a block argument of type i32}}
  cf.br ^a(%x : i64)
^a(%y: i32):
  tt.return
}
// -----
// expected-error @+1 {{'arith.addi' cannot have 1 operands}}
tt.func @f(%x: i64) { %c = "arith.addi"(%x) : (i64) -> i64 tt.return }
// -----
// expected-error @+1 {{the body of a function needs an operation}}
tt.func @f() {
}
// -----
// expected-error @+1 {{arguments of a function with a body need names}}
tt.func @f(i32) {
  tt.return
}
// -----
// expected-error @+1 {{sym_visibility cannot be "publ"}}
"tt.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "publ"}> ({
  tt.return
}) : () -> ()
// -----
// expected-error @+1 {{arg_attrs must have a dictionary for each of 1 types}}
"tt.func"() <{arg_attrs = [], function_type = (i32) -> (), sym_name = "f"}> ({
^bb0(%x: i32):
  tt.return
}) : () -> ()
