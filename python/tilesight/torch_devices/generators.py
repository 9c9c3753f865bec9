"""Generators on cuda draw with the CPU's algorithm, but their state looks like CUDA's: two words of 64 bits, the seed
and an offset that grows, which kernels with a random number generator of their own read and advance.

The CPU's state is longer, so the two words stand for one that is made from them: once a program looks at the state,
the generator goes on from what (seed, offset) gives.
"""

_STEP = 4  # CUDA's offsets are multiples of it
_MASK = (1 << 64) - 1
_DEFAULT = 0x7469_6C65_7369_6768


class State:
    """The two words of one of torch's generators; `plain` is torch's own class."""

    def __init__(self, torch, plain, generator):
        self._torch = torch
        self._plain = plain
        self._generator = generator
        self._seed, self._offset = self._seeded(), 0
        self._mixed = self._seed  # what the generator was seeded with for these two words
        self._then = None         # its state then

    def _seeded(self):
        return self._plain.initial_seed(self._generator)

    def words(self):
        """(seed, offset); moves on if numbers were drawn since the last time."""
        seeded, state = self._seeded(), self._plain.get_state(self._generator)
        if seeded != self._mixed:  # seeded anew
            self._seed, self._offset, self._mixed, self._then = seeded, 0, seeded, None
        if self._then is None and self._offset == 0:
            self._then = self._plain.get_state(self._plain().manual_seed(seeded))
        if not self._torch.equal(state, self._then):
            self.write(self._seed, self._offset + _STEP)
        return self._seed, self._offset

    def write(self, seed, offset):
        self._seed, self._offset = seed & _MASK, offset & _MASK
        self._mixed = _mix(self._seed, self._offset)
        self._plain.manual_seed(self._generator, self._mixed)
        self._then = self._plain.get_state(self._generator)

    def get(self):
        """16 bytes, as CUDA's get_state."""
        signed = [word - (1 << 64) if word >> 63 else word for word in self.words()]
        return self._torch.tensor(signed, dtype=self._torch.int64, device="cpu").view(self._torch.uint8)

    def set(self, state):
        if state.numel() != 16:
            raise RuntimeError("RNG state is wrong size")
        self.write(*state.cpu().view(self._torch.int64).tolist())


def _mix(seed, offset):
    """A seed for each pair; with offset 0, the seed itself."""
    if offset == 0:
        return seed
    word = (seed + offset * 0x9E3779B97F4A7C15) & _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


def install(torch, where):
    """Puts torch.Generator and torch.cuda's default generator in place."""
    plain = torch.Generator
    default = torch.default_generator

    class Kind(type(plain)):
        def __instancecheck__(cls, instance):
            return isinstance(instance, plain)  # torch.default_generator too

    class Generator(plain, metaclass=Kind):
        _gpu = None  # on cuda: its State

        def __new__(cls, device="cpu"):
            gpu = type(device) is int or where.is_gpu(device)
            if gpu:
                where.notice()
            generator = super().__new__(cls, device="cpu" if gpu else device)
            if gpu:
                generator._gpu = State(torch, plain, generator)
            return generator

        @property
        def device(self):
            return where.gpu if self._gpu else plain.device.__get__(self)

        def get_state(self):
            return self._gpu.get() if self._gpu else super().get_state()

        def set_state(self, state):
            if self._gpu:
                self._gpu.set(state)
            else:
                super().set_state(state)
            return self

        def get_offset(self):
            return self._gpu.words()[1] if self._gpu else super().get_offset()

        def set_offset(self, offset):
            if self._gpu:
                self._gpu.write(self._gpu.words()[0], offset)
            else:
                super().set_offset(offset)
            return self

        def initial_seed(self):
            return self._gpu.words()[0] if self._gpu else super().initial_seed()

    class DefaultGenerator(Generator):
        """Another name for the CPU's default generator, which draws for cuda too."""

        def __new__(cls):
            generator = plain.__new__(cls, device="cpu")
            generator._gpu = State(torch, plain, default)
            return generator

        def manual_seed(self, seed):
            default.manual_seed(seed)
            return self

        def seed(self):
            return default.seed()

    for kind in (Generator, DefaultGenerator):
        kind.__module__, kind.__qualname__ = plain.__module__, plain.__qualname__
    torch.Generator = Generator
    on_gpu = DefaultGenerator()
    # Operators do not get the object itself, only what is in it: its own seed, which nothing changes, tells it.
    plain.manual_seed(on_gpu, _DEFAULT)
    where.drawing = lambda generator: default if plain.initial_seed(generator) == _DEFAULT else generator
    torch.cuda.default_generators = (on_gpu,)
    for owner in (torch.cuda, torch.cuda.random):
        owner.get_rng_state = lambda device="cuda": on_gpu.get_state()
        owner.set_rng_state = lambda new_state, device="cuda": on_gpu.set_state(new_state) and None
        owner.get_rng_state_all = lambda: [on_gpu.get_state()]
        owner.set_rng_state_all = lambda new_states: on_gpu.set_state(new_states[0]) and None
        owner.initial_seed = lambda: on_gpu.initial_seed()
