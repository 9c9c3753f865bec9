"""Memory on an accelerator: the pages that a launch touches travel in, those it changed travel back."""


class DevicePages:
    """The pages of one allocation during one launch.

    read(start, view)   fills the memoryview with the device's bytes from `start` on
    write(start, view)  writes the memoryview's bytes to the device

    Both are called with runs of whole pages of 64 KiB (the last page may be shorter), `read` from any
    thread of the engine.
    """

    def __init__(self, nbytes, read, write):
        from ..engine import native

        self.pager = native().Pager(nbytes, read)
        self.address = self.pager.address
        self._write = write

    def bring_back(self):
        """Writes what the launch changed; returns the (from, to) that were written."""
        return self.pager.write_back(self._write)


def of_torch_storage(tensor, base, nbytes):
    """The pages of the `nbytes` bytes at address `base` on the device of a torch tensor."""
    import torch

    storage = tensor.untyped_storage()
    if (storage.data_ptr(), storage.nbytes()) == (base, nbytes):
        device = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
    else:  # several tensors with memory in common
        device = torch.as_tensor(_Bytes(base, nbytes), device=tensor.device)
    if tensor.device.type == "cuda":
        torch.cuda.synchronize(tensor.device)  # the engine's threads do not know the program's streams

    def read(start, view):
        torch.frombuffer(view, dtype=torch.uint8).copy_(device[start:start + len(view)])

    def write(start, view):
        device[start:start + len(view)].copy_(torch.frombuffer(view, dtype=torch.uint8))

    return DevicePages(nbytes, read, write)


class _Bytes:
    """Device memory by its address."""

    def __init__(self, base, nbytes):
        self.__cuda_array_interface__ = {"data": (base, False), "shape": (nbytes,), "typestr": "|u1",
                                         "version": 3}
