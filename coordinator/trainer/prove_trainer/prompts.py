"""
Prompts that several packs share, computed once for all of them. The keys and values of each layer are kept, and the
packs attend to them. At the end, the gradients that the packs' backward passes add to them go back through the prompt.
A prompt is computed in pieces, so it may be longer than a forward pass.
"""

from collections.abc import Callable

import torch

from .packing import Pack, Segment

KeysAndValues = tuple[torch.Tensor, torch.Tensor]  # [1, heads, tokens, D] each
PassOver = Callable[[Pack, "KeptPrompt"], object]  # a forward pass of the policy at hand, see `Policy.pass_over`


class KeptPrompt:
    """
    Keys and values of the pieces of a prompt, by layer, for `segment_attention`. Attention reads those `before` the
    current forward pass, and stores its own with `note`.
    """

    def __init__(self) -> None:
        self._pieces: list[dict[int, KeysAndValues]] = []  # leaves: gradients are summed in their `grad`
        self._noted: dict[int, KeysAndValues] | None = None  # of the piece that is computed
        self._seen = 0  # pieces before it

    def before(self, layer: int) -> list[KeysAndValues]:
        return [piece[layer] for piece in self._pieces[: self._seen]]

    def note(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
        # With checkpointing, a layer is computed again for its backward pass. Its graph refers to the first tensors.
        if self._noted is not None:
            self._noted.setdefault(layer, (key, value))

    @torch.no_grad()
    def add(self, pass_over: PassOver, piece: Pack) -> None:
        """Compute the next piece, without a graph."""
        self._noted, self._seen = {}, len(self._pieces)
        pass_over(piece, self)
        self._pieces.append({layer: _leaves(*pair) for layer, pair in self._noted.items()})
        self._noted, self._seen = None, len(self._pieces)

    def learn(self, pass_over: PassOver, piece: Pack) -> None:
        """
        Compute the last piece again, run its backward pass with the gradients that the packs added, and drop it. Its
        own gradients for earlier pieces are added to theirs.
        """
        self._noted, self._seen = {}, len(self._pieces) - 1
        pass_over(piece, self)
        outputs, slopes = [], []
        for layer, leaves in self._pieces[-1].items():
            for leaf, output in zip(leaves, self._noted[layer], strict=True):
                if output.requires_grad and leaf.grad is not None:
                    outputs.append(output)
                    slopes.append(leaf.grad)
        if outputs:
            torch.autograd.backward(outputs, slopes)
        self._pieces.pop()
        self._noted, self._seen = None, len(self._pieces)


def _leaves(key: torch.Tensor, value: torch.Tensor) -> KeysAndValues:
    return key.detach().requires_grad_(), value.detach().requires_grad_()


def pieces_of(prompt: torch.Tensor, budget: int) -> list[Pack]:
    """Return forward passes without loss over the prompt's `ids` [1, P], of at most `budget` tokens each."""
    none = torch.zeros(0)
    nothing = none.long()
    packs = []
    for at in range(0, prompt.shape[1], budget):
        ids = prompt[:, at : at + budget]
        length = ids.shape[1]
        positions = torch.arange(at, at + length)[None]
        segment = Segment(0, 0, (length,), apart=at)
        packs.append(Pack(ids, positions, (segment,), nothing, nothing, nothing, none, none, nothing, ()))
    return packs


class SharedPrompts:
    """
    The prompts of a sequence of packs, in which packs of one prompt follow one another. `piece` is the forward pass
    over a prompt that is in progress, or was when memory ran out.
    """

    def __init__(self, pass_over: PassOver, budget: int, device: torch.device) -> None:
        self.piece: Pack | None = None
        self._pass_over = pass_over
        self._budget = budget
        self._device = device
        self._prompt: torch.Tensor | None = None
        self._kept: KeptPrompt | None = None
        self._learns = False

    def of(self, pack: Pack, learns: bool) -> KeptPrompt | None:
        """
        Return the prompt outside the pack that it attends to, or None. A new prompt ends the previous one. `learns`:
        the packs' gradients go back through the prompt.
        """
        if pack.prompt is not self._prompt:
            self.end()
            self._prompt, self._learns = pack.prompt, learns
            if pack.prompt is not None:
                self._kept = KeptPrompt()
                for piece in pieces_of(pack.prompt, self._budget):
                    self.piece = piece
                    self._kept.add(self._pass_over, piece.to(self._device))
                self.piece = None
        return self._kept

    def end(self) -> None:
        """End the current prompt: all of its packs are done."""
        if self._kept is not None and self._prompt is not None and self._learns:
            for piece in reversed(pieces_of(self._prompt, self._budget)):
                self.piece = piece
                self._kept.learn(self._pass_over, piece.to(self._device))
            self.piece = None
        self._prompt = self._kept = None
