"""liger-kernel: every function of liger_kernel.transformers.functional that needs no model, and two below it."""

import liger_kernel.transformers.functional as liger
import torch
import torch.nn.functional as F

from cases import below, case, close, in_double, normal, same_with_gradients as same, uncompared


def rms_norm(x, weight, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def jsd(student, teacher, beta=0.5):
    """Jensen-Shannon divergence of log-probabilities."""
    p, q = teacher.exp(), student.exp()
    middle = (beta * p + (1 - beta) * q).log()
    return (beta * p * (teacher - middle) + (1 - beta) * q * (student - middle)).sum() / student.shape[0]


def rope(q, k, cos, sin):
    def turned(x):
        half = x.shape[-1] // 2
        return x * cos.unsqueeze(1) + torch.cat((-x[..., half:], x[..., :half]), -1) * sin.unsqueeze(1)
    return turned(q), turned(k)


def angles(positions, width):
    """cos, sin: [1, positions, width], both halves alike."""
    turns = torch.outer(torch.arange(positions, device="cuda").float(), torch.rand(width // 2, device="cuda"))
    both = torch.cat((turns, turns), -1)[None]
    return both.cos(), both.sin()


@case
def softmax():
    same(liger.liger_softmax, lambda x: F.softmax(x, -1), normal(7, 130))


@case
def softmax_long_rows():
    same(liger.liger_softmax, lambda x: F.softmax(x, -1), normal(3, 40001))


@case
def rms_norm_rows():
    same(lambda x, w: liger.liger_rms_norm(x, w, 1e-6, in_place=False), rms_norm, normal(5, 99), normal(99))


@case
def layer_norm():
    same(lambda x, w, b: liger.liger_layer_norm(x, w, b, 1e-5), lambda x, w, b: F.layer_norm(x, (99,), w, b, 1e-5),
         normal(5, 99), normal(99), normal(99))


@case
def group_norm():
    same(lambda x, w, b: liger.liger_group_norm(x, w, b, 6, 3, 1e-5), lambda x, w, b: F.group_norm(x, 3, w, b, 1e-5),
         normal(2, 6, 35), normal(6), normal(6))


@case
def swiglu():
    same(liger.liger_swiglu, lambda a, b: F.silu(a) * b, normal(5, 77), normal(5, 77))


@case
def geglu():
    same(liger.liger_geglu, lambda a, b: F.gelu(a, approximate="tanh") * b, normal(5, 77), normal(5, 77))


@case
def relu_squared():
    same(liger.liger_relu_squared, lambda x: F.relu(x) ** 2, normal(5, 77))


@case
def cross_entropy():
    same(liger.liger_cross_entropy, F.cross_entropy, normal(9, 131), below(131, 9))


@case
def cross_entropy_smoothed():
    same(lambda x, t: liger.liger_cross_entropy(x, t, label_smoothing=0.1),
         lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), normal(9, 131), below(131, 9))


@case
def cross_entropy_ignored():
    labels = below(131, 9)
    labels[::4] = -100
    same(liger.liger_cross_entropy, F.cross_entropy, normal(9, 131), labels)


@case
def fused_linear_cross_entropy():
    same(liger.liger_fused_linear_cross_entropy, lambda x, w, t: F.cross_entropy(x @ w.T, t),
         normal(9, 16), normal(70, 16), below(70, 9), tolerance=1e-2)


@case
def kl_div():
    same(lambda x, t: liger.liger_kl_div(x, t, reduction="batchmean"),
         lambda x, t: F.kl_div(x, t, reduction="batchmean"),
         F.log_softmax(normal(6, 90), -1), F.softmax(normal(6, 90), -1), constant=(1,))


@case
def jensen_shannon():
    same(liger.liger_jsd, jsd, F.log_softmax(normal(6, 90), -1), F.log_softmax(normal(6, 90), -1), constant=(1,))


@case
def fused_linear_jsd():
    same(liger.liger_fused_linear_jsd,
         lambda x, w, y, v: jsd(F.log_softmax(x @ w.T, -1), F.log_softmax(y @ v.T, -1)),
         normal(6, 16), normal(40, 16), normal(6, 16), normal(40, 16), constant=(2, 3), tolerance=1e-2)


@case
def fused_linear_kl_div():
    same(liger.liger_fused_linear_kl_div,
         lambda x, w, t: F.kl_div(F.log_softmax(x @ w.T, -1), t, reduction="batchmean"),
         normal(6, 16), normal(40, 16), F.softmax(normal(6, 40), -1), constant=(2,), tolerance=1e-2)


@case
def total_variation():
    same(lambda x, t: liger.liger_tvd(x, t, reduction="batchmean"),
         lambda x, t: 0.5 * (x - t).abs().sum() / x.shape[0],
         F.softmax(normal(6, 90), -1), F.softmax(normal(6, 90), -1), constant=(1,))


@case
def dynamic_tanh():
    same(liger.liger_dyt, lambda x, a, g, b: g * torch.tanh(a * x) + b, normal(5, 64), normal(1), normal(64), normal(64))


@case
def poly_norm():
    def formula(x, weights, bias):
        powers = [weight * rms_norm(x ** power, 1) for weight, power in zip(weights, (3, 2, 1))]
        return sum(powers) + bias
    same(lambda x, w, b: liger.liger_poly_norm(x, w, b, in_place=False), formula,
         normal(5, 60), normal(3), normal(1).squeeze(), tolerance=1e-2)


@case
def fused_add_rms_norm():
    same(lambda x, r, w: liger.liger_fused_add_rms_norm(x, r, w, 1e-6, in_place=False),
         lambda x, r, w: (rms_norm(x + r, w), x + r), normal(5, 60), normal(5, 60), normal(60))


@case
def modulated_rms_norm():
    same(lambda x, w, s, h: liger.liger_modulated_rms_norm(x, w, s, h, in_place=False),
         lambda x, w, s, h: (1 + s) * rms_norm(x, w) + h, normal(5, 60), normal(60), normal(5, 60), normal(5, 60))


@case
def sparsemax():
    def formula(x):
        ordered = x.sort(-1, descending=True)[0]
        sums, counts = ordered.cumsum(-1), torch.arange(1, x.shape[-1] + 1)
        kept = (1 + counts * ordered > sums).sum(-1, keepdim=True)
        return (x - (sums.gather(-1, kept - 1) - 1) / kept).clamp(min=0)
    same(lambda x: liger.liger_sparsemax(x, -1), formula, normal(5, 60))


@case
def rotary():
    cos, sin = angles(9, 16)
    same(lambda q, k: liger.liger_rope(q, k, cos, sin), lambda q, k: rope(q, k, in_double(cos), in_double(sin)),
         normal(2, 4, 9, 16), normal(2, 2, 9, 16))


@case
def rotary_in_sections():
    cos, sin = angles(9, 16)
    three = [x.expand(3, 1, 9, 16).contiguous() for x in (cos, sin)]
    same(lambda q, k: liger.liger_qwen2vl_mrope(q, k, *three, [2, 3, 3]),
         lambda q, k: rope(q, k, in_double(cos), in_double(sin)), normal(1, 4, 9, 16), normal(1, 2, 9, 16))


@case
def rotary_complex():
    from liger_kernel.ops.llama4_rope import LigerLlama4RopeFunction

    turns = torch.polar(torch.ones(9, 8), torch.randn(9, 8))
    q, k = normal(2, 9, 4, 16), normal(2, 9, 2, 16)

    def formula(x):
        pairs = torch.view_as_complex(in_double(x).reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turns[None, :, None]).flatten(3)

    close(LigerLlama4RopeFunction.apply(q.clone(), k.clone(), turns.cuda()), (formula(q), formula(k)))


@case
def multi_token_attention():
    def formula(scores, weight):
        seen = torch.ones(9, 9, dtype=torch.bool).tril()
        weights = F.softmax(scores.masked_fill(~seen, -1e9), -1)
        return F.conv2d(weights, weight, padding=1).masked_fill(~seen, 0)
    same(lambda s, w: liger.liger_multi_token_attention(s, w, None, padding=1), formula,
         normal(1, 2, 9, 9), normal(2, 2, 3, 3))


@case
def neighborhood_attention():
    def formula(q, k, v):
        near = (torch.arange(40)[:, None] - torch.arange(40)[None]).abs() <= 3
        scores = (q @ k.transpose(-1, -2) / 4).masked_fill(~near, -torch.inf)
        return F.softmax(scores, -1) @ v
    same(liger.liger_fused_neighborhood_attention, formula, normal(1, 2, 40, 16), normal(1, 2, 40, 16),
         normal(1, 2, 40, 16), tolerance=1e-2)


@case
def attention_residuals():
    def formula(blocks, query, norm):
        scores = (rms_norm(blocks, norm) * query).sum(-1)
        return (F.softmax(scores, 0)[..., None] * blocks).sum(0)
    same(liger.liger_attn_res, formula, normal(4, 2, 7, 32), normal(32), normal(32))


@case
def hyper_connections_in():
    same(liger.liger_mhc_pre, lambda x, h: (x * h[..., None]).sum(-2), normal(3, 4, 32), normal(3, 4))


@case
def hyper_connections_out():
    same(liger.liger_mhc_post_res, lambda x, f, post, res: res @ x + post[..., None] * f[..., None, :],
         normal(3, 4, 32), normal(3, 32), normal(3, 4), normal(3, 4, 4))


@uncompared
def grpo_loss():
    from liger_kernel.ops.grpo_loss import GrpoLossFunction

    GrpoLossFunction.apply(normal(2, 9, 50).requires_grad_(), normal(2, 8), normal(2, 8), below(50, 2, 8), normal(2),
                           None, 0.9, 0.04, 0.2, 0.2, False)[0].sum().backward()
