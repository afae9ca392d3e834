"""
The loss oracle: TRL's FusedLinearGRPOLoss on fixed inputs. Run as a script (with trl installed) to freeze
grpo_oracle.json again.
"""

import json
from pathlib import Path

import torch
from prove_trainer.loss import importance_weights, token_terms

FIXTURE = Path(__file__).parent / "grpo_oracle.json"
CASES = [{"beta": 0.0, "seed": 0}, {"beta": 0.05, "seed": 1}, {"beta": 0.0, "seed": 2}, {"beta": 0.2, "seed": 3}]


def inputs(seed: int) -> dict[str, torch.Tensor]:
    """
    Hidden states and weights of a tiny LM head, three rollouts of six tokens, and the three other policies' logprobs.
    """
    g = torch.Generator().manual_seed(seed)
    batch, length, hidden, vocab = 3, 6, 5, 11
    x = torch.randn(batch, length, hidden, generator=g)
    weight = torch.randn(vocab, hidden, generator=g)
    ids = torch.randint(0, vocab, (batch, length), generator=g)
    logp = torch.log_softmax(x @ weight.T, -1).gather(2, ids[..., None])[..., 0]
    mask = torch.rand(batch, length, generator=g) > 0.3
    mask[:, 0] = True
    return {
        "x": x,
        "weight": weight,
        "ids": ids,
        "mask": mask,
        "advantage": torch.randn(batch, generator=g),
        "old": logp + 0.3 * torch.randn(batch, length, generator=g),
        "sampler": logp + 0.8 * torch.randn(batch, length, generator=g),
        "reference": logp + 0.3 * torch.randn(batch, length, generator=g),
    }


def ours(case: dict[str, torch.Tensor], beta: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Our loss and its gradient with respect to the hidden states."""
    x = case["x"].clone().requires_grad_()
    logp = torch.log_softmax(x @ case["weight"].T, -1).gather(2, case["ids"][..., None])[..., 0]
    keep = case["mask"].flatten()
    advantage = case["advantage"][:, None].expand_as(logp).flatten()
    reference = case["reference"].flatten() if beta else None
    terms = token_terms(
        logp.flatten(),
        case["old"].flatten(),
        case["sampler"].flatten(),
        advantage,
        keep,
        logp_ref=reference,
        kl_coefficient=beta,
    )
    loss = terms.sum() / keep.sum()
    loss.backward()
    return loss.detach(), x.grad


def trl(case: dict[str, torch.Tensor], beta: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The same from TRL, which takes the truncated weight against the sampler as `vllm_is_ratio`."""
    from trl.losses import FusedLinearGRPOLoss

    x = case["x"].clone().requires_grad_()
    weights = importance_weights(case["old"], case["sampler"], case["mask"]).clamp(max=2.0)
    loss_fn = FusedLinearGRPOLoss(
        beta=beta, compiled=False, use_ref_model=beta > 0, epsilon_low=0.2, epsilon_high=0.28, loss_type="dapo"
    )
    loss, _ = loss_fn(
        x,
        case["weight"],
        case["ids"],
        case["mask"].float(),
        case["advantage"],
        ref_per_token_logps=case["reference"] if beta else None,
        old_per_token_logps=case["old"],
        vllm_is_ratio=weights,
    )
    loss.backward()
    return loss.detach(), x.grad


if __name__ == "__main__":
    frozen = []
    for case in CASES:
        loss, gradient = trl(inputs(case["seed"]), case["beta"])
        arrays = {name: tensor.tolist() for name, tensor in inputs(case["seed"]).items()}
        frozen.append({**case, "inputs": arrays, "loss": loss.item(), "gradient": gradient.tolist()})
    FIXTURE.write_text(
        json.dumps({"source": "trl 1.13.0 FusedLinearGRPOLoss, loss_type dapo, epsilon .2/.28", "cases": frozen}) + "\n"
    )
