// expected-error @+1 {{integer does not fit i8}}
module attributes {a = 256 : i8} {}
// -----
// expected-error @+1 {{integer is too large}}
module attributes {a = 99999999999999999999 : i64} {}
// -----
// expected-error @+1 {{integer does not fit ui8}}
module attributes {a = -1 : ui8} {}
// -----
// expected-error @+1 {{expected a float: a decimal with a point}}
module attributes {a = 1 : f32} {}
// -----
// expected-error @+1 {{bits do not fit f16}}
module attributes {a = 0x12345 : f16} {}
// -----
// expected-error @+1 {{the lists do not have the shape of the type}}
module attributes {a = dense<[1, 2]> : tensor<3xi32>} {}
// -----
// expected-error @+1 {{lists of one level differ in length}}
module attributes {a = dense<[[1, 2], [3]]> : tensor<2x2xi32>} {}
// -----
// expected-error @+1 {{number where a list is expected}}
module attributes {a = dense<[[1, 2], 3]> : tensor<2x2xi32>} {}
// -----
// expected-error @+1 {{data does not have the size of its type}}
module attributes {a = dense<"0x0102030405"> : tensor<3xi32>} {}
// -----
// expected-error @+1 {{expected "0x..." with an even number of digits}}
module attributes {a = dense<"0x010"> : tensor<1xi32>} {}
// -----
// expected-error @+1 {{'true' is not i32}}
module attributes {a = dense<true> : tensor<1xi32>} {}
// -----
// expected-error @+1 {{expected an integer for i32}}
module attributes {a = dense<1.5> : tensor<1xi32>} {}
// -----
// expected-error @+1 {{data needs a static shape}}
module attributes {a = dense<1> : tensor<?xi32>} {}
// -----
// expected-error @+1 {{an array holds integers or floats}}
module attributes {a = array<!tt.ptr<f32>: 1>} {}
// -----
// expected-error @+1 {{undefined alias '#nowhere'}}
module attributes {a = #nowhere} {}
// -----
#a = [#b]
#b = [#a] // expected-error {{alias is defined by itself}}
module attributes {a = #a} {}
// -----
// expected-error @+2 {{redefinition of alias '#a'}}
#a = 1
#a = 2
module {}
// -----
// expected-error @+1 {{this alias is not a location}}
module {} loc(#a)
#a = 1
// -----
// expected-error @+1 {{'<' without matching '>'}}
module attributes {a = #foo.bar<[( {}
// -----
// expected-error @+1 {{tensor extent is too large}}
module attributes {a = tensor<99999999999999999999xi32>} {}
// -----
// expected-error @+1 {{expected 'x' after a tensor extent}}
module attributes {a = tensor<4 xi32>} {}
// -----
// expected-error @+1 {{integer type is too wide}}
module attributes {a = i99999999} {}
// -----
// expected-error @+1 {{a line number is too large}}
module {} loc("f":4294967296:1)
// -----
tt.func @f(%p: tensor<8x!tt.ptr<i32>>) {
  // expected-error @+1 {{'cache' has no value 99}}
  %x = "tt.load"(%p) <{cache = 99 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
  tt.return
}
// -----
tt.func @f(%p: tensor<8x!tt.ptr<i32>>) {
  // expected-error @+1 {{operandSegmentSizes does not match the operands}}
  %x = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
  tt.return
}
