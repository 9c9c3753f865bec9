"""conch-triton-kernels: every operator of conch.ops, beside torch's formula or conch.reference's.

Left out: scaled_int8_quant and scaled_fp8_quant without a scale, which the package does not implement.
"""

import importlib

import torch
import torch.nn.functional as F

from cases import below, case, close, in_double, normal, same


def operator(module, name):
    return getattr(importlib.import_module(f"conch.ops.{module}"), name)


def reference(module, name):
    return getattr(importlib.import_module(f"conch.reference.{module}"), name)


def halves(function):
    return lambda x: function(x[..., :x.shape[-1] // 2]) * x[..., x.shape[-1] // 2:]


def rms_norm(x, weight, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


@case
def silu_and_mul():
    same(operator("activation.silu_and_mul", "silu_and_mul"), halves(F.silu), normal(5, 130))


@case
def gelu_tanh_and_mul():
    same(operator("activation.gelu_tanh_and_mul", "gelu_tanh_and_mul"),
         halves(lambda x: F.gelu(x, approximate="tanh")), normal(5, 130))


@case
def rms_norm_rows():
    same(lambda x, w: operator("normalization.rms_norm", "rms_norm")(x, w, 1e-6), rms_norm, normal(5, 99), normal(99))


@case
def fused_add_rms_norm():
    same(lambda x, r, w: operator("normalization.rms_norm", "fused_add_rms_norm")(x, r, w, 1e-6),
         lambda x, r, w: (rms_norm(x + r, w), x + r), normal(5, 99), normal(5, 99), normal(99))


@case
def gemma_rms_norm():
    same(lambda x, w: operator("normalization.gemma_rms_norm", "gemma_rms_norm")(x, w, 1e-6),
         lambda x, w: rms_norm(x, 1 + w), normal(5, 99), normal(99))


@case
def int8_with_a_scale():
    x, scale = normal(5, 99), torch.tensor([0.1], device="cuda")
    close(operator("quantization.int8", "scaled_int8_quant")(x, scale)[0],
          (in_double(x) / 0.1).round().clamp(-128, 127), 1.001)  # rounding of x / 0.1 in float32 may differ by one


@case
def fp8_with_a_scale():
    x, scale = normal(5, 99), torch.tensor([0.5], device="cuda")
    close(operator("quantization.fp8", "scaled_fp8_quant")(x, scale)[0].float(),
          (x.cpu() * 2).to(torch.float8_e4m3fn).float(), 1e-6)


def scaled_gemm_of(m, n, k):
    a, b = (below(19, *shape, dtype=torch.int8) - 9 for shape in ((m, k), (k, n)))
    scale_a, scale_b = torch.rand(m, 1, device="cuda"), torch.rand(n, 1, device="cuda")
    got = operator("quantization.gemm", "scaled_gemm")(a, b, scale_a, scale_b, torch.float16)
    close(got, in_double(a).double() @ in_double(b).double() * in_double(scale_a) * in_double(scale_b).T, 1e-2)


@case
def scaled_gemm():
    scaled_gemm_of(32, 64, 64)


@case
def scaled_gemm_ragged():
    scaled_gemm_of(17, 33, 64)


@case
def mixed_precision_gemm():
    x, codes, scale = normal(17, 128, dtype=torch.float16), below(16, 128, 64), torch.rand(1, 64, device="cuda").half()
    packed = sum(codes.reshape(16, 8, 64)[:, i] << (4 * i) for i in range(8)).to(torch.int32)
    close(operator("quantization.gemm", "mixed_precision_gemm")(x, packed, scale, None, 4, 8, 128),
          in_double(x) @ ((in_double(codes) - 8.0) * in_double(scale)), 5e-2)


_NF4 = (-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0,
        0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0)
_FP4 = tuple(sign * size for sign in (1, -1) for size in (0, 0.0052083333, 1 / 6, 0.25, 1 / 3, 0.5, 2 / 3, 1))


def four_bits(kind, levels):
    module = importlib.import_module("conch.ops.quantization.bitsandbytes.functional")
    x = normal(4096 + 64, dtype=torch.float16)
    codes, state = module.quantize_4bit(x, blocksize=64, quant_type=kind)
    blocks = in_double(x).reshape(-1, 64)
    largest = blocks.abs().amax(1, keepdim=True)
    steps = torch.tensor(levels, dtype=torch.float64)
    nearest = (blocks / largest)[..., None].sub(steps).abs().argmin(-1)
    off = (in_double(module.dequantize_4bit(codes, state, quant_type=kind)).reshape(-1, 64)
           - steps[nearest] * largest).abs() > 2e-3
    assert off.sum() <= 20, f"{off.sum()} of {x.numel()} are not the nearest level"  # ties, in float16


@case
def nf4():
    four_bits("nf4", _NF4)


@case
def fp4():
    four_bits("fp4", _FP4)


@case
def eight_bits():
    module = importlib.import_module("conch.ops.quantization.bitsandbytes.functional")
    x, code = normal(4096, dtype=torch.float16), torch.linspace(-1, 1, 256, device="cuda")
    codes, state = module.quantize_blockwise(x, code=code, blocksize=256, quant_type="fp8")
    levels, largest = in_double(code), in_double(x).reshape(-1, 256).abs().amax(1, keepdim=True)
    scaled = in_double(x).reshape(-1, 256) / largest
    expected = levels[scaled[..., None].sub(levels).abs().argmin(-1)] * largest
    close(module.dequantize_blockwise(codes, state, blocksize=256, quant_type="fp8"), expected.flatten(), 2e-2)


@case
def rotary_embedding():
    cache = reference("embedding.rotary_embedding", "compute_cos_sin_cache")(1e4, 32, 64).to("cuda")
    positions, q, k = below(64, 7), normal(7, 4 * 32), normal(7, 2 * 32)
    close(operator("embedding.rotary_embedding", "rotary_embedding")(positions, q.clone(), k.clone(), 32, cache),
          reference("embedding.rotary_embedding", "rotary_embedding")(positions, q.clone(), k.clone(), cache, 32, 32))


@case
def nms():
    boxes, scores = torch.rand(50, 4, device="cuda") * 50, torch.rand(50, device="cuda")
    boxes[:, 2:] += boxes[:, :2]
    close(operator("vision.nms", "nms")(boxes, scores, 0.4), reference("vision.nms", "nms")(boxes, scores, 0.4))


@case
def bev_pool():
    features, cell = normal(60, 20), below(4, 60).sort()[0]
    places = torch.stack([cell, cell, cell * 0, cell * 0], 1).int()
    starts = torch.cat([cell.new_zeros(1), 1 + (cell[1:] != cell[:-1]).nonzero().flatten()]).int()
    lengths = torch.diff(torch.cat([starts, starts.new_tensor([60])]))
    arguments = (places, starts, lengths)
    pooled = operator("vision.bev_pool", "bev_pool")(features, *arguments, 1, 1, 4, 4)
    close(pooled, reference("vision.bev_pool", "bev_pool_pytorch")(features.double(), *arguments, 1, 1, 4, 4))
    weights = torch.randn_like(pooled)
    close(operator("vision.bev_pool", "bev_pool_backward")(weights, *arguments),
          reference("vision.bev_pool", "bev_pool_backward_pytorch")(weights, *arguments))


@case
def voxelization():
    module = importlib.import_module("conch.ops.vision.voxelization")
    parameters = module.VoxelizationParameter((0.0, 0.0, 0.0), (4.0, 4.0, 1.0), (1.0, 1.0, 1.0), 8)
    points = torch.rand(50, 4, device="cuda") * torch.tensor([4.5, 4.5, 1.0, 1.0], device="cuda")
    filled, features, indices, counts = module.generate_voxels(points, parameters)
    cells = {}
    for x, y, *_ in points.tolist():
        if x < 4 and y < 4:
            cells[int(x), int(y)] = cells.get((int(x), int(y)), 0) + 1
    assert int(filled) == len(cells)
    assert sorted(counts.tolist()) == sorted(min(count, 8) for count in cells.values())


@case
def copy_blocks():
    keys, values = [normal(8, 1024)], [normal(8, 1024)]
    before = keys[0].clone(), values[0].clone()
    operator("vllm.copy_blocks", "copy_blocks")(keys, values, torch.tensor([[0, 3], [1, 5]], device="cuda"))
    for now, old in zip((keys[0], values[0]), before):
        old[3], old[5] = old[0], old[1]
        close(now, old, 0)


@case
def reshape_and_cache():
    key, value = normal(5, 2, 32), normal(5, 2, 32)
    key_cache, value_cache = torch.zeros(4, 16, 2, 32, device="cuda"), torch.zeros(4, 16, 2, 32, device="cuda")
    slots = torch.tensor([3, 17, 40, 60, 9], device="cuda")
    operator("vllm.reshape_and_cache", "reshape_and_cache")(key, value, key_cache, value_cache, slots)
    for new, cache in ((key, key_cache), (value, value_cache)):
        expected = torch.zeros(64, 2, 32)
        expected[slots.cpu()] = new.cpu()
        close(cache.reshape(64, 2, 32), expected, 0)


def attention(q, keys, values, causal=False):
    """q: [queries, heads, width], keys, values: [tokens, key heads, width]."""
    q, keys, values = in_double(q), in_double(keys), in_double(values)
    each = q.shape[1] // keys.shape[1]
    scores = torch.einsum("qhd,khd->hqk", q, keys.repeat_interleave(each, 1)) / q.shape[-1] ** 0.5
    if causal:  # the queries are the last tokens
        later = torch.ones(scores.shape[1:], dtype=torch.bool).triu(keys.shape[0] - q.shape[0] + 1)
        scores = scores.masked_fill(later, -torch.inf)
    return torch.einsum("hqk,khd->qhd", scores.softmax(-1), values.repeat_interleave(each, 1))


def cached():
    """keys, values: [pages, 16, 2, 32]; pages of two sequences of 37 and 50 tokens."""
    keys, values = normal(16, 16, 2, 32, dtype=torch.float16), normal(16, 16, 2, 32, dtype=torch.float16)
    pages = torch.randperm(16, device="cuda")[:8].reshape(2, 4).int()
    return keys, values, pages, torch.tensor([37, 50], device="cuda").int()


def tokens_of(cache, pages, count):
    return cache[pages.long()].flatten(0, 1)[:count]


@case
def paged_attention():
    keys, values, pages, counts = cached()
    q = normal(2, 4, 32, dtype=torch.float16)
    got = operator("attention.paged_attention", "paged_attention")(q, keys, values, pages, counts)
    for i, count in enumerate(counts.tolist()):
        close(got[i:i + 1], attention(q[i:i + 1], tokens_of(keys, pages[i], count), tokens_of(values, pages[i], count)),
              5e-3)


def varlen(lengths, causal):
    keys, values, pages, counts = cached()
    first, second = lengths
    q, starts = normal(first + second, 4, 32, dtype=torch.float16), [0, first, first + second]
    got = operator("attention.varlen_attention", "varlen_attention")(
        q, keys, values, torch.tensor(starts, device="cuda").int(), max(lengths), counts, 50, pages, causal=causal)
    for i, count in enumerate(counts.tolist()):
        mine = slice(starts[i], starts[i + 1])
        close(got[mine], attention(q[mine], tokens_of(keys, pages[i], count), tokens_of(values, pages[i], count), causal),
              5e-3)


@case
def varlen_attention():
    varlen((5, 7), False)


@case
def varlen_attention_causal():
    varlen((37, 50), True)  # as many queries as tokens: with fewer, the package lets query i see the tokens up to i


@case
def varlen_attention_of_one_token():
    varlen((1, 1), True)
