"""Launches like those that upstream measures its sanitizer with: kernels of our own of the same kinds and sizes.

A workload is a function of torch that gives [(kernel, grid, arguments, constants)]; `wrong` compares what one launch of them
has left with what torch computes. Triton 3.6: block pointers are gone from later ones.
"""

import triton
import triton.language as tl

from workloads import layer_norm_kernel, matmul_kernel


@triton.jit
def indirect_kernel(index_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    index = tl.load(index_ptr + offs, mask=mask, other=0)
    tl.store(out_ptr + offs, tl.load(x_ptr + index, mask=mask), mask=mask)


@triton.jit
def nested_kernel(x_ptr, out_ptr, rows, cols, stride, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for i in range(0, rows):
        for j in range(0, cols):
            total += tl.load(x_ptr + i * stride + j * BLOCK + offs)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + offs, total)


@triton.jit
def block_pointer_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x_block = tl.make_block_ptr(x_ptr, shape=(n,), strides=(1,), offsets=(0,), block_shape=(BLOCK,), order=(0,))
    out_block = tl.make_block_ptr(out_ptr, shape=(n,), strides=(1,), offsets=(0,), block_shape=(BLOCK,), order=(0,))
    for _ in range(0, n, BLOCK):
        x = tl.load(x_block, boundary_check=(0,))
        tl.store(out_block, x * 2, boundary_check=(0,))
        x_block = tl.advance(x_block, (BLOCK,))
        out_block = tl.advance(out_block, (BLOCK,))


@triton.jit
def jsd_kernel(p_ptr, q_ptr, label_ptr, loss_ptr, grad_ptr, cols, ignored, scale, beta, BLOCK: tl.constexpr):
    """Rows whose label is `ignored` have gradient 0 and no loss."""
    pid = tl.program_id(0)
    row = pid.to(tl.int64) * cols
    if tl.load(label_ptr + pid) == ignored:
        for start in range(0, cols, BLOCK):
            offs = start + tl.arange(0, BLOCK)
            tl.store(grad_ptr + row + offs, 0.0, mask=offs < cols)
    else:
        for start in range(0, cols, BLOCK):
            offs = start + tl.arange(0, BLOCK)
            mask = offs < cols
            log_p = tl.load(p_ptr + row + offs, mask=mask, other=-float("inf")).to(tl.float32)
            log_q = tl.load(q_ptr + row + offs, mask=mask, other=-float("inf")).to(tl.float32)
            p, q = tl.exp(log_p), tl.exp(log_q)
            log_m = tl.log(beta * p + (1 - beta) * q)
            grad = (1 - beta) * q * (log_q - log_m)
            tl.store(loss_ptr + row + offs, (beta * p * (log_p - log_m) + grad) * scale, mask=mask)
            tl.store(grad_ptr + row + offs, grad * scale, mask=mask)


@triton.jit
def multiply_kernel(x_ptr, factor_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    factor = tl.load(factor_ptr)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + offs, mask=offs < cols)
        tl.store(x_ptr + row + offs, x * factor, mask=offs < cols)


@triton.jit
def rows_norm_kernel(out_ptr, in_ptr, weight_ptr, bias_ptr, rows, cols, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Several rows a program."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (col < cols)
    x = tl.load(in_ptr + row * cols + col, mask=mask, other=0.0)
    mean = tl.sum(x, axis=1)[:, None] / cols
    centered = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centered * centered, axis=1)[:, None] / cols + eps)
    weight = tl.load(weight_ptr + col, mask=col < cols)
    bias = tl.load(bias_ptr + col, mask=col < cols)
    tl.store(out_ptr + row * cols + col, centered * rstd * weight + bias, mask=mask)


@triton.jit
def looping_norm_kernel(out_ptr, in_ptr, weight_ptr, bias_ptr, cols, eps, BLOCK: tl.constexpr):
    """A row in several tiles, read twice."""
    row = tl.program_id(0) * cols
    total, squares = tl.zeros([BLOCK], dtype=tl.float32), tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(in_ptr + row + offs, mask=offs < cols, other=0.0)
        total += x
        squares += x * x
    mean = tl.sum(total, axis=0) / cols
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / cols - mean * mean + eps)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < cols
        x = tl.load(in_ptr + row + offs, mask=mask)
        weight, bias = tl.load(weight_ptr + offs, mask=mask), tl.load(bias_ptr + offs, mask=mask)
        tl.store(out_ptr + row + offs, (x - mean) * rstd * weight + bias, mask=mask)


@triton.jit
def norm_backward_kernel(dout_ptr, in_ptr, weight_ptr, mean_ptr, rstd_ptr, din_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The gradient of the rows' norm with regard to its input."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    mean = tl.load(mean_ptr + row, mask=row < rows, other=0.0)
    rstd = tl.load(rstd_ptr + row, mask=row < rows, other=0.0)
    of_grad, of_both = tl.zeros([ROWS, BLOCK], dtype=tl.float32), tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)[None, :]
        mask = (row < rows) & (col < cols)
        grad = tl.load(dout_ptr + row * cols + col, mask=mask, other=0.0) * tl.load(weight_ptr + col, mask=col < cols, other=0.0)
        x = (tl.load(in_ptr + row * cols + col, mask=mask, other=0.0) - mean) * rstd
        of_grad += grad
        of_both += grad * x
    mean_grad = tl.sum(of_grad, axis=1)[:, None] / cols
    mean_both = tl.sum(of_both, axis=1)[:, None] / cols
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)[None, :]
        mask = (row < rows) & (col < cols)
        grad = tl.load(dout_ptr + row * cols + col, mask=mask, other=0.0) * tl.load(weight_ptr + col, mask=col < cols, other=0.0)
        x = (tl.load(in_ptr + row * cols + col, mask=mask, other=0.0) - mean) * rstd
        tl.store(din_ptr + row * cols + col, rstd * (grad - mean_grad - x * mean_both), mask=mask)


@triton.jit
def swiglu_kernel(a_ptr, b_ptr, c_ptr, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * stride
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    a = tl.load(a_ptr + row + offs, mask=mask, other=0.0)
    b = tl.load(b_ptr + row + offs, mask=mask, other=0.0)
    tl.store(c_ptr + row + offs, a * tl.sigmoid(a) * b, mask=mask)


@triton.jit
def swiglu_backward_kernel(dc_ptr, a_ptr, b_ptr, stride, cols, BLOCK: tl.constexpr):
    """The gradients replace a and b."""
    row = tl.program_id(0).to(tl.int64) * stride
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    dc = tl.load(dc_ptr + row + offs, mask=mask, other=0.0)
    a = tl.load(a_ptr + row + offs, mask=mask, other=0.0)
    b = tl.load(b_ptr + row + offs, mask=mask, other=0.0)
    sig = tl.sigmoid(a)
    silu = a * sig
    tl.store(a_ptr + row + offs, dc * (silu * (1 - sig) + sig) * b, mask=mask)
    tl.store(b_ptr + row + offs, dc * silu, mask=mask)


@triton.jit
def cross_entropy_kernel(x_ptr, target_ptr, loss_ptr, stride, cols, smoothing, cap, SMOOTH: tl.constexpr, CAP: tl.constexpr,
                         BLOCK: tl.constexpr):
    """Loss of a row; the gradient replaces the row."""
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    x_ptr += row * stride
    picked = tl.load(x_ptr + target)
    if CAP:
        picked = cap * (2 * tl.sigmoid(2 * picked / cap) - 1)
    largest, total, plain = -float("inf"), 0.0, 0.0
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < cols, other=-float("inf"))
        if CAP:
            x = cap * (2 * tl.sigmoid(2 * x / cap) - 1)
            x = tl.where(offs < cols, x, -float("inf"))
        if SMOOTH:
            plain += tl.sum(tl.where(offs < cols, x, 0.0), 0)
        higher = tl.maximum(largest, tl.max(x, 0))
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(x - higher), 0)
        largest = higher
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < cols, other=-float("inf"))
        slope = 1.0
        if CAP:
            t = 2 * tl.sigmoid(2 * x / cap) - 1
            x = cap * t
            slope = 1 - t * t
        grad = tl.exp(x - largest) / total
        if SMOOTH:
            grad -= smoothing / cols
        grad = tl.where(offs == target, grad - (1 - smoothing), grad)
        tl.store(x_ptr + offs, grad * slope, mask=offs < cols)
    normalizer = largest + tl.log(total)
    loss = normalizer - picked
    if SMOOTH:
        loss = (1 - smoothing) * loss + smoothing * (normalizer - plain / cols)
    tl.store(loss_ptr + row, loss)


@triton.jit
def strided_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs * stride, mask=mask), mask=mask)


def gemm(torch):
    launches = []
    for m, n, k, tile in ((64, 64, 64, 16), (128, 128, 128, 16), (64, 128, 64, 16), (128, 64, 128, 16), (64, 64, 64, 32),
                          (128, 128, 128, 32), (64, 128, 128, 32)):
        a, b, c = torch.randn(m, k), torch.randn(k, n), torch.empty(m, n)
        launches.append((matmul_kernel, (m // tile, n // tile), [a, b, c, m, n, k, k, 1, n, 1, n, 1],
                         {"BLOCK_M": tile, "BLOCK_N": tile, "BLOCK_K": tile}))
    return launches


def indirect_load(torch):
    n = 1024
    return [(indirect_kernel, (16,), [torch.randperm(n).to(torch.int32), torch.randn(n), torch.empty(n), n], {"BLOCK": 64})]


def nested_loops(torch):
    return [(nested_kernel, (2,), [torch.randn(rows, cols * 64), torch.empty(128), rows, cols, cols * 64], {"BLOCK": 64})
            for rows, cols in ((4, 8), (8, 4), (4, 16), (16, 4), (8, 8), (8, 16), (16, 8))]


def block_pointer_loop(torch):
    return [(block_pointer_kernel, (1,), [torch.randn(4096), torch.empty(4096), 4096], {"BLOCK": 64})]


def _jsd(torch, rows, cols, hidden, dtype, beta, ignored):
    """Half of the rows are ignored."""
    p, q = (torch.randn(rows, cols).log_softmax(-1).to(dtype) for _ in range(2))
    label = torch.randint(0, cols, (rows,))
    label[:rows // 2] = ignored
    kept = int((label != ignored).sum())
    return [(jsd_kernel, (rows,), [p, q, label, torch.zeros(rows, cols), torch.empty(rows, cols, dtype=dtype), cols, ignored,
                                   1 / kept, beta], {"BLOCK": triton.next_power_of_2(cols)}),
            (multiply_kernel, (rows,), [torch.randn(rows, hidden).to(dtype), torch.tensor(0.5, dtype=dtype), hidden],
             {"BLOCK": triton.next_power_of_2(hidden)})]


def jsd_many_rows(torch):
    return [launch for hidden, cols in ((256, 1600), (128, 2048), (64, 1024)) for dtype in (torch.bfloat16, torch.float32)
            for beta, ignored in ((0.5, -100), (0.1, 42)) for launch in _jsd(torch, 512, cols, hidden, dtype, beta, ignored)]


def jsd_few_rows(torch):
    return [launch for hidden, widths in ((256, (800, 1600, 3200)), (128, (1024, 2048, 4096)), (64, (512, 1024, 2048)))
            for cols in widths for beta in (0.5, 0.1) for launch in _jsd(torch, 4, cols, hidden, torch.float32, beta, -100)]


def layer_norm(torch):
    """Forward in three ways that suit the widths, each with the gradient after it."""
    launches = []
    for kernel, rows, cols, grid, constants in (
            (rows_norm_kernel, 64, 36, 4, {"ROWS": 16, "BLOCK": 64}), (layer_norm_kernel, 64, 256, 64, {"BLOCK": 256}),
            (looping_norm_kernel, 1, 40999, 1, {"BLOCK": 1024})):
        x, weight, bias, grad = torch.randn(rows, cols), torch.randn(cols), torch.randn(cols), torch.randn(rows, cols)
        sizes = {rows_norm_kernel: [rows, cols], layer_norm_kernel: [cols, cols, cols], looping_norm_kernel: [cols]}[kernel]
        launches.append((kernel, (grid,), [torch.empty(rows, cols), x, weight, bias, *sizes, 1e-5], constants))
        launches.append((norm_backward_kernel, (triton.cdiv(rows, 4),),
                         [grad, x, weight, x.mean(1), 1 / (x.var(1, correction=0) + 1e-5).sqrt(), torch.empty(rows, cols), rows, cols],
                         {"ROWS": 4, "BLOCK": 1024}))
    return launches


def swiglu(torch):
    launches = []
    for cols in (512, 1024, 2048, 4096, 8192, 768, 1536, 3072, 6144, 256, 640):
        arrays = [torch.randn(4, cols) for _ in range(3)]
        for kernel in (swiglu_kernel, swiglu_backward_kernel):
            launches.append((kernel, (4,), [*(a.clone() for a in arrays), cols, cols], {"BLOCK": triton.next_power_of_2(cols)}))
    return launches


def cross_entropy(torch):
    launches = []
    for cols in (512, 1024, 2048, 4096, 8192, 16384, 32000):
        for smooth in (False, True):
            for cap in (False, True):
                launches.append((cross_entropy_kernel, (4,),
                                 [torch.randn(4, cols), torch.randint(0, cols, (4,)), torch.empty(4), cols, cols,
                                  0.1 if smooth else 0.0, 30.0],
                                 {"SMOOTH": smooth, "CAP": cap, "BLOCK": triton.next_power_of_2(cols)}))
    return launches


def strided_view(torch):
    n = 4096
    return [(strided_kernel, (n // 256,), [torch.randn(2 * n)[::2], torch.empty(n), n, 2], {"BLOCK": 256})]


WORKLOADS = {"gemm": gemm, "indirect load": indirect_load, "nested loops": nested_loops,
             "block-pointer loop": block_pointer_loop, "jsd, 4 rows": jsd_few_rows,
             "jsd, 512 rows": jsd_many_rows, "layer norm": layer_norm, "swiglu": swiglu,
             "cross entropy": cross_entropy, "strided view": strided_view}


def _expected(torch, kernel, before, constants):
    """number of an argument -> what it holds after a launch."""
    functional = torch.nn.functional
    if kernel is matmul_kernel:
        return {2: before[0] @ before[1]}
    if kernel is indirect_kernel:
        return {2: before[1][before[0].long()]}
    if kernel is nested_kernel:
        return {1: before[0].view(-1, constants["BLOCK"]).sum(0).repeat(2)}
    if kernel is block_pointer_kernel:
        return {1: before[0] * 2}
    if kernel is jsd_kernel:
        log_p, log_q, kept = before[0].float(), before[1].float(), (before[2] != before[6])[:, None]
        scale, beta = before[7], before[8]
        p, q = log_p.exp(), log_q.exp()
        log_m = (beta * p + (1 - beta) * q).log()
        grad = kept * scale * (1 - beta) * q * (log_q - log_m)
        return {3: kept * scale * beta * p * (log_p - log_m) + grad, 4: grad.to(before[4].dtype)}
    if kernel is multiply_kernel:
        return {0: before[0] * before[1]}
    if kernel is norm_backward_kernel:
        grad, x, weight = before[0], before[1].clone().requires_grad_(), before[2]
        functional.layer_norm(x, (x.shape[1],), weight).backward(grad)
        return {5: x.grad}
    if kernel in (layer_norm_kernel, rows_norm_kernel, looping_norm_kernel):
        _, x, weight, bias = before[:4]
        return {0: functional.layer_norm(x, (x.shape[1],), weight, bias, 1e-5)}
    if kernel is swiglu_kernel:
        return {2: functional.silu(before[0]) * before[1]}
    if kernel is swiglu_backward_kernel:
        a, b = before[1].clone().requires_grad_(), before[2].clone().requires_grad_()
        (functional.silu(a) * b).backward(before[0])
        return {1: a.grad, 2: b.grad}
    if kernel is cross_entropy_kernel:
        x, target, smoothing, cap = before[0].clone().requires_grad_(), before[1], before[5], before[6]
        logits = cap * (x / cap).tanh() if constants["CAP"] else x
        loss = functional.cross_entropy(logits, target, label_smoothing=smoothing, reduction="none")
        loss.sum().backward()
        return {0: x.grad, 2: loss.detach()}
    if kernel is strided_kernel:
        return {1: before[0]}
    raise KeyError(kernel)


def wrong(torch, launch, before):
    """What is wrong after `launch`, or None; `before`: the arguments as they were."""
    kernel, _, arguments, constants = launch
    for number, expected in _expected(torch, kernel, before, constants).items():
        close = 0.05 if kernel is matmul_kernel else 1e-4  # tl.dot rounds f32 to tf32
        if not torch.allclose(arguments[number], expected, rtol=1e-3, atol=close):
            return f"{kernel.fn.__name__}: argument {number} is off by {(arguments[number] - expected).abs().max()}"
    return None
