// The standard operations that Triton's dumps do not use, and their optional parts.
tt.func public @standard(%i: i32, %v: tensor<4xi32>, %x: f32, %w: tensor<4xf32>, %c: i1, %m: tensor<4xi1>, %n: index) {
  %r0 = arith.addi %v, %v overflow<nsw,nuw> : tensor<4xi32>
  %r1 = arith.addi %v, %v : tensor<4xi32>
  %r2 = arith.subi %v, %v overflow<nsw,nuw> : tensor<4xi32>
  %r3 = arith.subi %v, %v : tensor<4xi32>
  %r4 = arith.muli %v, %v overflow<nsw,nuw> : tensor<4xi32>
  %r5 = arith.muli %v, %v : tensor<4xi32>
  %r6 = arith.shli %v, %v overflow<nsw,nuw> : tensor<4xi32>
  %r7 = arith.shli %v, %v : tensor<4xi32>
  %r8 = arith.divsi %v, %v exact : tensor<4xi32>
  %r9 = arith.divsi %v, %v : tensor<4xi32>
  %r10 = arith.divui %v, %v exact : tensor<4xi32>
  %r11 = arith.divui %v, %v : tensor<4xi32>
  %r12 = arith.shrsi %v, %v exact : tensor<4xi32>
  %r13 = arith.shrsi %v, %v : tensor<4xi32>
  %r14 = arith.shrui %v, %v exact : tensor<4xi32>
  %r15 = arith.shrui %v, %v : tensor<4xi32>
  %r16 = arith.remsi %v, %v : tensor<4xi32>
  %r17 = arith.remsi %v, %v : tensor<4xi32>
  %r18 = arith.remui %v, %v : tensor<4xi32>
  %r19 = arith.remui %v, %v : tensor<4xi32>
  %r20 = arith.ceildivsi %v, %v : tensor<4xi32>
  %r21 = arith.ceildivsi %v, %v : tensor<4xi32>
  %r22 = arith.ceildivui %v, %v : tensor<4xi32>
  %r23 = arith.ceildivui %v, %v : tensor<4xi32>
  %r24 = arith.floordivsi %v, %v : tensor<4xi32>
  %r25 = arith.floordivsi %v, %v : tensor<4xi32>
  %r26 = arith.andi %v, %v : tensor<4xi32>
  %r27 = arith.andi %v, %v : tensor<4xi32>
  %r28 = arith.ori %v, %v : tensor<4xi32>
  %r29 = arith.ori %v, %v : tensor<4xi32>
  %r30 = arith.xori %v, %v : tensor<4xi32>
  %r31 = arith.xori %v, %v : tensor<4xi32>
  %r32 = arith.minsi %v, %v : tensor<4xi32>
  %r33 = arith.minsi %v, %v : tensor<4xi32>
  %r34 = arith.minui %v, %v : tensor<4xi32>
  %r35 = arith.minui %v, %v : tensor<4xi32>
  %r36 = arith.maxsi %v, %v : tensor<4xi32>
  %r37 = arith.maxsi %v, %v : tensor<4xi32>
  %r38 = arith.maxui %v, %v : tensor<4xi32>
  %r39 = arith.maxui %v, %v : tensor<4xi32>
  %r40 = arith.addf %w, %w fastmath<contract> : tensor<4xf32>
  %r41 = arith.addf %w, %w : tensor<4xf32>
  %r42 = arith.subf %w, %w fastmath<contract> : tensor<4xf32>
  %r43 = arith.subf %w, %w : tensor<4xf32>
  %r44 = arith.mulf %w, %w fastmath<contract> : tensor<4xf32>
  %r45 = arith.mulf %w, %w : tensor<4xf32>
  %r46 = arith.divf %w, %w fastmath<contract> : tensor<4xf32>
  %r47 = arith.divf %w, %w : tensor<4xf32>
  %r48 = arith.remf %w, %w fastmath<contract> : tensor<4xf32>
  %r49 = arith.remf %w, %w : tensor<4xf32>
  %r50 = arith.minimumf %w, %w fastmath<contract> : tensor<4xf32>
  %r51 = arith.minimumf %w, %w : tensor<4xf32>
  %r52 = arith.maximumf %w, %w fastmath<contract> : tensor<4xf32>
  %r53 = arith.maximumf %w, %w : tensor<4xf32>
  %r54 = arith.minnumf %w, %w fastmath<contract> : tensor<4xf32>
  %r55 = arith.minnumf %w, %w : tensor<4xf32>
  %r56 = arith.maxnumf %w, %w fastmath<contract> : tensor<4xf32>
  %r57 = arith.maxnumf %w, %w : tensor<4xf32>
  %r58 = arith.negf %w fastmath<nnan,ninf> : tensor<4xf32>
  %lo59, %hi59 = arith.mulsi_extended %v, %v : tensor<4xi32>
  %lo60, %hi60 = arith.mului_extended %v, %v : tensor<4xi32>
  %r61 = arith.addf %x, %x to_nearest_even fastmath<fast> : f32
  %r62 = arith.addi %n, %n : index
  %r63 = arith.cmpf une, %x, %x fastmath<nnan> : f32
  %r64 = arith.cmpi ult, %n, %n : index
  %r65 = arith.select %c, %w, %w : tensor<4xf32>
  %r66 = arith.select %m, %w, %w {hint} : tensor<4xi1>, tensor<4xf32>
  %r67 = arith.select %c, %i, %i : i32
  %r68 = arith.constant {tag = 1 : i64} 4 : i32
  %r69 = arith.extsi %i : i32 to i64
  %r70 = arith.extui %v nneg : tensor<4xi32> to tensor<4xi64>
  %r71 = arith.trunci %i overflow<nsw> : i32 to i8
  %r72 = arith.extf %x fastmath<contract> : f32 to f64
  %r73 = arith.truncf %x toward_zero : f32 to f16
  %r74 = arith.sitofp %v : tensor<4xi32> to tensor<4xf32>
  %r75 = arith.uitofp %i nneg : i32 to f32
  %r76 = arith.fptosi %x : f32 to i32
  %r77 = arith.fptoui %w : tensor<4xf32> to tensor<4xi8>
  %r78 = arith.bitcast %x : f32 to i32
  %r79 = arith.index_cast %i : i32 to index
  %r80 = arith.index_castui %n : index to i64
  %r81 = math.exp %w : tensor<4xf32>
  %r82 = math.exp2 %w : tensor<4xf32>
  %r83 = math.expm1 %w : tensor<4xf32>
  %r84 = math.log %w : tensor<4xf32>
  %r85 = math.log2 %w : tensor<4xf32>
  %r86 = math.log10 %w : tensor<4xf32>
  %r87 = math.log1p %w : tensor<4xf32>
  %r88 = math.sin %w : tensor<4xf32>
  %r89 = math.cos %w : tensor<4xf32>
  %r90 = math.tan %w : tensor<4xf32>
  %r91 = math.asin %w : tensor<4xf32>
  %r92 = math.acos %w : tensor<4xf32>
  %r93 = math.atan %w : tensor<4xf32>
  %r94 = math.sinh %w : tensor<4xf32>
  %r95 = math.cosh %w : tensor<4xf32>
  %r96 = math.tanh %w : tensor<4xf32>
  %r97 = math.sqrt %w : tensor<4xf32>
  %r98 = math.rsqrt %w : tensor<4xf32>
  %r99 = math.cbrt %w : tensor<4xf32>
  %r100 = math.erf %w : tensor<4xf32>
  %r101 = math.erfc %w : tensor<4xf32>
  %r102 = math.floor %w : tensor<4xf32>
  %r103 = math.ceil %w : tensor<4xf32>
  %r104 = math.round %w : tensor<4xf32>
  %r105 = math.roundeven %w : tensor<4xf32>
  %r106 = math.trunc %w : tensor<4xf32>
  %r107 = math.absf %w : tensor<4xf32>
  %r108 = math.absi %v : tensor<4xi32>
  %r109 = math.ctpop %v : tensor<4xi32>
  %r110 = math.ctlz %v : tensor<4xi32>
  %r111 = math.cttz %v : tensor<4xi32>
  %r112 = math.powf %x, %x : f32
  %r113 = math.atan2 %x, %x : f32
  %r114 = math.copysign %x, %x : f32
  %r115 = math.fma %x, %x, %x fastmath<afn> : f32
  %r116 = ub.poison : tensor<4xf32>
  %r117 = ub.poison {why = "dead"} : i32
  cf.assert %c, "must hold"
  llvm.intr.assume %c : i1
  gpu.barrier
  ttg.barrier local|global_read
  ttg.barrier all
  tt.grid_dependency_wait
  tt.grid_dependency_launch_dependents
  %g = tt.precise_sqrt %x : f32
  %h = tt.approx_divf %x, %g : f32
  cf.cond_br %c weights([90, 10]), ^a(%i, %x : i32, f32), ^b {likely}
^a(%p: i32, %q: f32):
  cf.br ^b
^b:
  cf.br ^c
^c:
  ub.unreachable
}
