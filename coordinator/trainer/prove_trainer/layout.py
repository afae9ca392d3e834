"""Names in the job directory. coordinator/jobs/layout.ts has the same names, and contract.json tests both."""

BATCHES = "batches"
STEPS = "steps"
AUDITS = "audits"
TOKEN_SCORES = "token-scores"  # of audits; a batch has a folder of this name next to its manifest
ADAPTERS = "adapters"
CAPACITIES = "capacities"  # reduced capacities of ranks that ran out of memory
LAUNCH = "launch"  # of ranks on several machines: their lease, and a folder of each life

MANIFEST_FILE = "manifest.json"  # of a batch, and of an audit
TOKENS_FILE = "tokens.safetensors"
REFUSED_FILE = "refused.json"
FINDINGS_FILE = "findings.json"  # next to a batch's manifest, from the coordinator
STEP_FILE = "step.json"
ANSWER_FILE = "audit.json"
TOKEN_SCORE_FILE = "token-scores.safetensors"

LEASE_FILE = "lease.json"  # under `launch`, from the coordinator
EVENTS_FILE = "events.jsonl"  # of a life, from its rank 0

BASE_CONFIG_FILE = "base/config.json"

# The files of a step, besides step.json.
STEP_FILES = (
    "adapter/README.md",
    "adapter/adapter_config.json",
    "adapter/adapter_model.safetensors",
    "adapter.gguf",
    "optimizer.safetensors",
    "rng.json",
    BASE_CONFIG_FILE,
)
