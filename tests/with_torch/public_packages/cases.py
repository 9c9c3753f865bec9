"""What the cases have in common: inputs, comparison with a formula in float64, gradients too."""

import torch

CASES = {}      # name -> function that raises AssertionError
UNCOMPARED = set()  # names of cases whose launches are checked, but whose results are not


def case(function):
    CASES[function.__name__] = function
    return function


def uncompared(function):
    """No formula stands beside the call: its launches are checked, its results are not."""
    UNCOMPARED.add(function.__name__)
    return case(function)


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def positive(*shape):
    return torch.rand(*shape, device="cuda") + 0.1


def below(limit, *shape, dtype=torch.int64):
    return torch.randint(0, limit, shape, device="cuda", dtype=dtype)


def in_double(value):
    """A copy on the CPU, in float64 if it is floating."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().cpu()
    return value.double() if value.is_floating_point() else value.clone()


def flat(results):
    """The tensors of a result."""
    if isinstance(results, (tuple, list)):
        return [tensor for result in results for tensor in flat(result)]
    return [results]


def close(results, expected, tolerance=1e-3):
    results, expected = flat(results), flat(expected)
    assert len(results) == len(expected)
    for got, wanted in zip(results, expected):
        torch.testing.assert_close(in_double(got), in_double(wanted), rtol=tolerance, atol=tolerance,
                                   check_dtype=False)


def same(function, formula, *inputs, tolerance=1e-3):
    """function(*inputs) is what formula gives in float64."""
    expected = formula(*map(in_double, inputs))
    close(function(*[x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]), expected, tolerance)


def same_with_gradients(function, formula, *inputs, constant=(), tolerance=1e-3):
    """As `same`, and so are the gradients with respect to all floating inputs but those at `constant`."""
    def leaf(value, index):
        wanted = value.is_floating_point() and index not in constant
        return value.detach().clone().requires_grad_(wanted)

    ours = [leaf(value, i) for i, value in enumerate(inputs)]
    theirs = [leaf(in_double(value), i) for i, value in enumerate(inputs)]
    results, expected = flat(function(*ours)), flat(formula(*theirs))
    close(results, expected, tolerance)
    weights = [torch.randn(value.shape, dtype=torch.float64) for value in expected]
    torch.autograd.backward(expected, weights)
    torch.autograd.backward(results, [weight.to("cuda", result.dtype) for weight, result in zip(weights, results)])
    for mine, wanted in zip(ours, theirs):
        if wanted.grad is not None:
            close(mine.grad, wanted.grad, tolerance)
