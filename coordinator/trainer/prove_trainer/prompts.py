"""
A prompt that several packs share is computed once for all of them: its keys and values are kept, layer by layer, the
packs attend to them, and what their backward passes say of them goes back through the prompt at the end. In pieces, so
that a prompt may be longer than a forward pass.
"""

from collections.abc import Callable

import torch

from .packing import Pack, Segment

KeysAndValues = tuple[torch.Tensor, torch.Tensor]  # [1, heads, tokens, D] each
PassOver = Callable[[Pack, "KeptPrompt"], object]  # a forward pass of the policy at hand, see `Policy.pass_over`


class KeptPrompt:
    """
    Keys and values of the pieces of a prompt, by layer, for `segment_attention`. Attention asks for those `before` a
    token of the forward pass at hand, and hands its own over by `note`.
    """

    def __init__(self) -> None:
        self._pieces: list[dict[int, KeysAndValues]] = []  # leaves: slopes are added up in their `grad`
        self._noted: dict[int, KeysAndValues] | None = None  # of the piece that is computed
        self._seen = 0  # pieces before it

    def before(self, layer: int) -> list[KeysAndValues]:
        return [piece[layer] for piece in self._pieces[: self._seen]]

    def note(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> None:
        # A layer that is computed anew for its backward pass comes a second time: the first is what its graph is of.
        if self._noted is not None:
            self._noted.setdefault(layer, (key, value))

    @torch.no_grad()
    def add(self, pass_over: PassOver, piece: Pack) -> None:
        """Computes the next piece, without a graph."""
        self._noted, self._seen = {}, len(self._pieces)
        pass_over(piece, self)
        self._pieces.append({layer: _leaves(*pair) for layer, pair in self._noted.items()})
        self._noted, self._seen = None, len(self._pieces)

    def learn(self, pass_over: PassOver, piece: Pack) -> None:
        """
        Computes the last piece again, adds the gradients of what has come back to it, and forgets it. What it says
        itself of the pieces before it is added to theirs.
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
    """Forward passes over the prompt's `ids` [1, P], of `budget` tokens at most, about which nothing is asked."""
    none = torch.zeros(0)
    nothing = none.long()
    packs = []
    for at in range(0, prompt.shape[1], budget):
        ids = prompt[:, at : at + budget]
        length = ids.shape[1]
        positions = torch.arange(at, at + length)[None]
        segment = Segment(0, 0, (length,), apart=at)
        packs.append(Pack(ids, positions, (segment,), nothing, nothing, none, none, nothing, ()))
    return packs


class SharedPrompts:
    """
    The prompts of packs that come one after the other, those of one prompt together. `piece` is the forward pass over a
    prompt that is under way, or was when memory ran out.
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
        What the pack attends to beside itself. Another prompt than before ends that; `learns`: with the gradients of
        its packs.
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
        """The packs of the prompt at hand are done."""
        if self._kept is not None and self._prompt is not None and self._learns:
            for piece in reversed(pieces_of(self._prompt, self._budget)):
                self.piece = piece
                self._kept.learn(self._pass_over, piece.to(self._device))
            self.piece = None
        self._prompt = self._kept = None
