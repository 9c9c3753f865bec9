// Names and locations: nested, shared, at call sites; names that clash; sibling regions.
#attention = loc("attention.py":10:0)
#inner = loc("qk"(#attention))
tt.func public @"names and locations"(%x: f32 loc("x"(#attention)), %arg1: i32, %c: i1 loc(unknown)) -> (f32 {tt.hint = "r"}) attributes {noinline = false} {
  %0 = arith.addf %x, %x : f32 loc(callsite(#inner at "caller.py":3:4))
  %1 = scf.if %c -> (f32) {
    %same = arith.addf %0, %0 : f32 loc(fused<"inlined">[#inner, "attention.py":11:2 to 11:9])
    scf.yield %same : f32
  } else {
    %same = arith.mulf %0, %0 : f32 loc("a name"("f.py":1:2))
    scf.yield %same : f32
  } loc(#inner)
  %same = arith.negf %1 : f32 loc(#dialect.note<1>)
  %pair:2 = "other.op"(%same) {key = "v"} : (f32) -> (f32, f32) loc(#late)
  cf.br ^end(%pair#1 : f32)
^end(%2: f32 loc("f.py":7:7)):
  tt.return %2 : f32
} loc("f.py":0:0)
#late = loc(callsite("g.py":1:1 at #inner))
