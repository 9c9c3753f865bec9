// expected-error @+1 {{expected '(' around arguments}}
tt.func @f {
}
// -----
module {
  tt.func @f() {
    // expected-error @+1 {{expected an operation, found '%'}}
    %
// -----
module {
  tt.func @f() {
    tt.return
// expected-error @+1 {{expected '}' to end the region}}
// -----
// expected-error @+1 {{unknown operation 'modul'}}
modul {
}
// -----
tt.func @f(%x: i32) {
  // expected-error @+1 {{expected ','}}
  %y = arith.addi %x %x : i32
  tt.return
}
// -----
tt.func @f(%x: i32) {
  // expected-error @+1 {{expected a type, found 'i'}}
  %y = arith.addi %x, %x : i
  tt.return
}
// -----
tt.func @f(%x: i32) {
  // expected-error @+1 {{expected predicate (one of eq, ne, slt}}
  %y = arith.cmpi lt, %x, %x : i32
  tt.return
}
// -----
tt.func @f() {
  // expected-error @+1 {{expected axis (one of x, y, z), found 'w'}}
  %y = tt.get_program_id w : i32
  tt.return
}
// -----
tt.func @f() {
  // expected-error @+1 {{string without closing quote on its line}}
  "foo.bar
  tt.return
}
// -----
// expected-error @+1 {{'{-#' without closing '#-}'}}
{-# dialect_resources
// -----
tt.func @f() {
  // expected-error @+1 {{'tt.reduce' has no custom form}}
  %r = tt.reduce %x
}
// -----
tt.func @f() {
  // expected-error @+1 {{unbalanced ')' in 'foo.bar'}}
  foo.bar [ )
}
// -----
tt.func @f() {
  // expected-error @+1 {{has an open bracket at the end of the file}}
  foo.bar [
// -----
// expected-error @+1 {{attribute 'a' occurs twice}}
module attributes {a = 1, a = 2} {
}
// -----
// expected-error @+1 {{unknown escape in string}}
module attributes {a = "\q"} {
}
// -----
// expected-error @+1 {{found '\xFF'}}
module ÿ
