tt.func @f() {
  // expected-error @+1 {{undefined value '%x'}}
  %y = arith.addi %x, %x : i32
  tt.return
}
// -----
tt.func @f(%x: i32) {
  // expected-error @+1 {{redefinition of value '%x'}}
  %x = arith.addi %x, %x : i32
  tt.return
}
// -----
tt.func @f(%x: i32) {
  // expected-error @+1 {{'%x' has type i32, but i64 is expected here}}
  %y = arith.addi %x, %x : i64
  tt.return
}
// -----
tt.func @f(%x: i32) {
  // expected-error @+1 {{'%x' has only 1 results}}
  %y = arith.addi %x#1, %x : i32
  tt.return
}
// -----
tt.func @f(%x: i32) {
  // expected-error @+1 {{'arith.addi' has 1 results, but 2 are named}}
  %y:2 = arith.addi %x, %x : i32
  tt.return
}
// -----
tt.func @outer(%x: i32) {
  tt.return
}
tt.func @inner() {
  // expected-error @+1 {{undefined value '%x'}}
  %y = arith.addi %x, %x : i32
  tt.return
}
// -----
tt.func @f(%c: i1) {
  scf.if %c {
    %y = arith.constant 1 : i32
  }
  // expected-error @+1 {{undefined value '%y'}}
  %z = arith.addi %y, %y : i32
  tt.return
}
// -----
tt.func @f() {
  // expected-error @+1 {{undefined block '^nowhere'}}
  cf.br ^nowhere
}
// -----
tt.func @f() {
  cf.br ^a
^a:
  tt.return
// expected-error @+1 {{redefinition of block '^a'}}
^a:
  tt.return
}
// -----
tt.func @f(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  %y = arith.constant 1 : i32
  cf.br ^b
^b:
  // expected-error @+1 {{'arith.addi' uses '%y' where it is not defined}}
  %z = arith.addi %y, %y : i32
  tt.return
}
// -----
tt.func @f() {
  // expected-error @+1 {{'arith.addi' uses '%y' where it is not defined}}
  %z = arith.addi %y, %y : i32
  %y = arith.constant 1 : i32
  tt.return
}
// -----
tt.func @f() {
  cf.br ^a(%y : i32)
^a(%x: i32):
  %y = arith.constant 1 : i64
  // expected-error @-3 {{'%y' has type i64, but i32 is expected here}}
  tt.return
}
