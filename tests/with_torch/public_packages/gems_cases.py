"""flag-gems: operators of torch that the package replaces, each beside torch's own in float64 on the CPU.

flag-gems finds its vendor by nvidia-smi; here the variable GEMS_VENDOR says it.
"""

import os

os.environ.setdefault("GEMS_VENDOR", "nvidia")

import flag_gems  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from cases import CASES, below, case, close, in_double, normal, positive  # noqa: E402

# name: (the operator, its arguments...)
OPERATORS = {
    "exp": (torch.exp, normal(33, 65)),
    "add": (torch.add, normal(33, 65), normal(65)),
    "sub": (torch.sub, normal(33, 65), normal(33, 1)),
    "mul": (torch.mul, normal(33, 65).T, normal(33)),
    "div": (torch.div, normal(33, 65), positive(33, 65)),
    "abs": (torch.abs, normal(33, 65)),
    "rsqrt": (torch.rsqrt, positive(99)),
    "sin": (torch.sin, normal(99)),
    "cos": (torch.cos, normal(99)),
    "tanh": (torch.tanh, normal(99)),
    "sigmoid": (torch.sigmoid, normal(99)),
    "relu": (torch.relu, normal(99)),
    "silu": (F.silu, normal(99)),
    "gelu": (F.gelu, normal(99)),
    "erf": (torch.erf, normal(99)),
    "pow": (torch.pow, positive(99), 2.5),
    "where": (torch.where, normal(99) > 0, normal(99), normal(99)),
    "clamp": (lambda x: torch.clamp(x, -0.5, 0.5), normal(99)),
    "maximum": (torch.maximum, normal(99), normal(99)),
    "minimum": (torch.minimum, normal(99), normal(99)),
    "isnan": (torch.isnan, normal(99)),
    "softmax": (lambda x: torch.softmax(x, -1), normal(33, 65)),
    "softmax0": (lambda x: torch.softmax(x, 0), normal(33, 65)),
    "log_softmax": (lambda x: torch.log_softmax(x, -1), normal(33, 65)),
    "sum": (torch.sum, normal(33, 65)),
    "sum1": (lambda x: x.sum(1), normal(33, 65)),
    "mean": (torch.mean, normal(33, 65)),
    "amax": (lambda x: x.amax(1), normal(33, 65)),
    "argmax": (lambda x: x.argmax(1), normal(33, 65)),
    "argmin": (lambda x: x.argmin(0), normal(33, 65)),
    "max": (lambda x: torch.max(x, 1), normal(33, 65)),
    "min": (lambda x: torch.min(x, 0), normal(33, 65)),
    "prod": (lambda x: torch.prod(x, 1), positive(33, 9)),
    "var_mean": (lambda x: torch.var_mean(x, 1), normal(33, 65)),
    "std": (lambda x: torch.std(x, 1), normal(33, 65)),
    "all": (torch.all, normal(33, 65) > -9),
    "any": (torch.any, normal(33, 65) > 9),
    "vector_norm": (torch.linalg.vector_norm, normal(33, 65)),
    "cumsum": (lambda x: x.cumsum(1), normal(33, 65)),
    "cummax": (lambda x: torch.cummax(x, 1), normal(9, 65)),
    "cummin": (lambda x: torch.cummin(x, 1), normal(9, 65)),
    "mm": (torch.mm, normal(33, 65), normal(65, 17)),
    "addmm": (torch.addmm, normal(17), normal(33, 65), normal(65, 17)),
    "bmm": (torch.bmm, normal(3, 33, 65), normal(3, 65, 17)),
    "mv": (torch.mv, normal(33, 65), normal(65)),
    "dot": (torch.dot, normal(99), normal(99)),
    "addmv": (torch.addmv, normal(33), normal(33, 65), normal(65)),
    "outer": (torch.outer, normal(33), normal(17)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (65,), w, b), normal(33, 65), normal(65), normal(65)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 3, w, b), normal(2, 6, 35), normal(6), normal(6)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), normal(5, 6, 35)),
    "gather": (lambda x, i: x.gather(1, i), normal(33, 65), below(65, 33, 9)),
    "scatter": (lambda x, i, s: x.scatter(1, i, s), normal(33, 65),
                torch.arange(9, device="cuda").expand(33, 9).contiguous(), normal(33, 9)),
    "index_select": (lambda x, i: x.index_select(1, i), normal(33, 65), below(65, 9)),
    "index_add": (lambda x, i, s: x.index_add(0, i, s), normal(33, 65), torch.arange(9, device="cuda"),
                  normal(9, 65)),
    "embedding": (lambda i, w: F.embedding(i, w), below(33, 7), normal(33, 65)),
    "masked_fill": (lambda x, m: x.masked_fill(m, 0.0), normal(33, 65), normal(33, 65) > 0),
    "masked_select": (lambda x, m: x.masked_select(m), normal(33, 65), normal(33, 65) > 0),
    "nonzero": (torch.nonzero, normal(33, 65) > 0),
    "sort": (lambda x: torch.sort(x, 1), normal(5, 65)),
    "topk": (lambda x: torch.topk(x, 7, 1), normal(5, 65)),
    "unique": (torch.unique, below(20, 99)),
    "flip": (lambda x: x.flip(1), normal(33, 65)),
    "roll": (lambda x: x.roll(3, 1), normal(33, 65)),
    "cat": (lambda a, b: torch.cat([a, b], 1), normal(33, 65), normal(33, 9)),
    "stack": (lambda a, b: torch.stack([a, b]), normal(33, 65), normal(33, 65)),
    "tril": (torch.tril, normal(33, 65)),
    "triu": (torch.triu, normal(33, 65)),
    "repeat": (lambda x: x.repeat(2, 3), normal(33, 9)),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, 0), normal(33, 9)),
    "pad": (lambda x: F.pad(x, (1, 2)), normal(33, 9)),
    "tile": (lambda x: x.tile(2, 2), normal(33, 9)),
    "diag": (torch.diag, normal(33)),
    "kron": (torch.kron, normal(3, 4), normal(5, 6)),
    "isin": (torch.isin, below(20, 99), below(20, 9)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3), normal(2, 3, 19, 17)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3), normal(2, 3, 19, 17)),
    "conv1d": (lambda x, w: F.conv1d(x, w), normal(2, 4, 33), normal(8, 4, 3)),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1), normal(2, 4, 9, 9), normal(8, 4, 3, 3)),
    "upsample": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), normal(2, 3, 9, 7)),
    "nll_loss": (lambda x, t: F.nll_loss(x, t), normal(9, 31), below(31, 9)),
    "mse_loss": (F.mse_loss, normal(99), normal(99)),
    "sdpa": (F.scaled_dot_product_attention, *(normal(1, 2, 33, 32, dtype=torch.float16) for _ in range(3))),
    "logical_and": (torch.logical_and, normal(99) > 0, normal(99) > 0),
    "bitwise_not": (torch.bitwise_not, below(99, 99)),
    "eq": (torch.eq, below(3, 99), below(3, 99)),
    "nan_to_num": (lambda x: torch.nan_to_num(x, 1.0, 2.0, 3.0), normal(99) / 0),
    "log": (torch.log, positive(99)),
    "sqrt": (torch.sqrt, positive(99)),
    "floor_divide": (lambda a, b: a // b, below(99, 99), below(9, 99) + 1),
    "remainder": (torch.remainder, below(99, 99), below(9, 99) + 1),
    "lerp": (torch.lerp, normal(99), normal(99), 0.3),
    "quantile": (lambda x: torch.quantile(x, 0.5, 1), normal(5, 65)),
    "glu": (F.glu, normal(33, 66)),
    "count_nonzero": (torch.count_nonzero, below(2, 33, 65)),
    "trace": (torch.trace, normal(33, 33)),
}

_LOOSE = {"sdpa": 5e-3}  # half precision


def compared(name, operator, arguments):
    def run():
        expected = operator(*map(in_double, arguments))
        with flag_gems.use_gems():
            got = operator(*arguments)
        close(got, expected, _LOOSE.get(name, 1e-3))
    return run


for _name, (_operator, *_arguments) in OPERATORS.items():
    CASES[_name] = compared(_name, _operator, _arguments)


def made(name, make):
    """Operators that make tensors: by their device."""
    def run():
        with flag_gems.use_gems():
            got = make("cuda")
        close(got, make("cpu"))
    CASES[name] = run


made("arange", lambda device: torch.arange(0, 99, 2, device=device))
made("linspace", lambda device: torch.linspace(0, 1, 99, device=device))
made("ones", lambda device: torch.ones(99, device=device))
made("full", lambda device: torch.full((99,), 3.0, device=device))


@case
def multinomial():
    weights = torch.tensor([0.0, 1, 2, 0, 5], device="cuda")
    with flag_gems.use_gems():
        drawn = torch.multinomial(weights, 2000, replacement=True)
    counts = in_double(drawn).bincount(minlength=5)
    expected = in_double(weights) / 8 * 2000
    assert counts.sum() == 2000 and (counts - expected).abs().max() < 150, counts


@case
def random_numbers():
    with flag_gems.use_gems():
        uniform, bell = torch.rand(4001, device="cuda"), torch.randn(4001, device="cuda")
        kept = F.dropout(torch.ones(4001, device="cuda"), 0.25)
    assert 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.03
    assert abs(bell.mean()) < 0.08 and abs(bell.std() - 1) < 0.06
    assert abs((kept > 0).float().mean() - 0.75) < 0.04 and set(kept.unique().tolist()) <= {0.0, kept.max().item()}
