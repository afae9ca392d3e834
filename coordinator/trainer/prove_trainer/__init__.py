"""
GRPO trainer of the PROVE coordinator: reads batches of accepted groups from a job directory, writes LoRA adapters.
"""

__version__ = "0.1.0"
