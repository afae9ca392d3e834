"""GRPO trainer of the PROVE coordinator: batches of accepted groups in, LoRA adapters out, over a spool directory."""

__version__ = "0.1.0"
