"""Distillation: the KL divergence (and Jensen-Shannon) of two sets of logits with a temperature, by chunks,
with the gradient for the student."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def row_lse(X, V, inverse_t, BLOCK: tl.constexpr):
    m = -float("inf")
    total = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < V, other=-float("inf")) * inverse_t
        m_new = tl.maximum(m, tl.max(x, 0))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    return m + tl.log(total)


@triton.jit
def distill_kernel(Student, Teacher, Loss, Grad, stride_s, stride_t, V, inverse_t, beta, JSD: tl.constexpr,
                   BLOCK: tl.constexpr):
    row = tl.program_id(0)
    Student += row * stride_s
    Teacher += row * stride_t
    lse_s = row_lse(Student, V, inverse_t, BLOCK)
    lse_t = row_lse(Teacher, V, inverse_t, BLOCK)
    loss = 0.0
    dot = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < V
        log_s = tl.load(Student + cols, mask=mask, other=0.0) * inverse_t - lse_s
        log_t = tl.load(Teacher + cols, mask=mask, other=0.0) * inverse_t - lse_t
        s = tl.exp(log_s)
        t = tl.exp(log_t)
        if JSD:
            log_m = tl.log(beta * t + (1 - beta) * s)
            part = beta * t * (log_t - log_m) + (1 - beta) * s * (log_s - log_m)
            towards = (1 - beta) * s * (log_s - log_m)  # s * dloss/ds
        else:
            part = t * (log_t - log_s)
            towards = -t
        loss += tl.sum(tl.where(mask, part, 0.0), 0)
        dot += tl.sum(tl.where(mask, towards, 0.0), 0)
        tl.store(Grad + row * V + cols, towards, mask=mask)
    tl.debug_barrier()
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < V
        s = tl.exp(tl.load(Student + cols, mask=mask, other=0.0) * inverse_t - lse_s)
        towards = tl.load(Grad + row * V + cols, mask=mask)
        tl.store(Grad + row * V + cols, (towards - s * dot) * inverse_t, mask=mask)
    tl.store(Loss + row, loss)


def main():
    M, V, temperature, beta = 9, 203, 2.0, 0.3
    rng = np.random.default_rng(21)
    student = rng.standard_normal((M, V + 4), dtype=np.float32)[:, :V]
    teacher = rng.standard_normal((M, 2 * V), dtype=np.float32)[:, V:]

    def logs(x):
        x = x.astype(np.float64) / temperature
        x = x - x.max(-1, keepdims=True)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))

    ls, lt = logs(student), logs(teacher)
    s, t = np.exp(ls), np.exp(lt)
    error = 0.0
    for jsd in (False, True):
        loss, grad = np.zeros(M, np.float32), np.zeros((M, V), np.float32)
        distill_kernel[(M,)](student, teacher, loss, grad, V + 4, 2 * V, V, 1 / temperature, beta, JSD=jsd, BLOCK=64)
        if jsd:
            lm = np.log(beta * t + (1 - beta) * s)
            wanted = (beta * t * (lt - lm) + (1 - beta) * s * (ls - lm)).sum(-1)
            ds = (1 - beta) * (ls - lm)
            dx = s * (ds - (s * ds).sum(-1, keepdims=True)) / temperature
        else:
            wanted, dx = (t * (lt - ls)).sum(-1), (s - t) / temperature
        error = max(error, np.abs(loss - wanted).max(), np.abs(grad - dx).max())
    print(f"kl_divergence: max error {error:.2e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
