"""All bounds of the trainer. Files in the job directory and the configuration are checked against them."""

SCHEMA = 1  # version of manifest.json, trainer.json and step.json

MAX_JSON_BYTES = 32 * 2**20  # one manifest or configuration; 65,536 rollouts need about 10 MB
MAX_ROLLOUTS = 65_536  # rollouts in one batch
MAX_BATCH_TOKENS = 2**27  # tokens in one batch: 2.3 GB of token file
MAX_TOKEN_FILE_BYTES = 17 * MAX_BATCH_TOKENS + 2**20  # per token 4 ids + 1 mask + 4 logp + 8 draws, and the header
MAX_ID_LENGTH = 128  # batch, round and group ids
MAX_LIFE_NAME = 32  # of a life of ranks on several machines, in their lease
MAX_SILENCE_MS = 3_600_000  # of a coordinator, until ranks on other machines count it as gone
MAX_CANARIES = 16
MAX_CANARY_TOKENS = 2_048  # of a canary's prompt, and of its continuation
MAX_STALENESS = 8  # hard ceiling of the setting: stable to 6, unstable at 11 in ECHO-2
MAX_RANK = 256  # LoRA rank
MAX_ALPHA = 4096.0  # LoRA alpha, sixteen times the largest rank
MAX_NAME = 200  # characters of a model's name or revision
MAX_PATH = 4_096  # characters of a file's path
MAX_DETAIL = 400  # characters of an error message that leave the process

LOG_RATIO_CLAMP = 20.0  # nats; exp(20) is far above any cap and still finite in float32
FLAT_REWARD = 1e-8  # a group whose rewards differ by less has zero variance
STD_EPS = 1e-4  # TRL's epsilon for std-normalised advantages
MAX_BAD_LOGP_SHARE = 0.01  # of a rollout's loss tokens with a missing or non-finite sampler logprob
POSITIVE_LOGP_SLACK = 1e-6  # nats; log(softmax) in float32 may round above zero, a claim of 0.001 may not
ADVANTAGE_SLACK = 1e-4  # between an advantage named in the manifest and ours
RELOAD_SLACK = 1e-4  # nats between the live adapter and the one just written, on the canaries
AUDIT_CHUNK_ELEMENTS = 2**22  # logits in memory at once in an audit, several times and in float64: some 200 MB
AUDIT_POLICIES = 4  # policies in memory of an audit process: volunteers are a few versions apart, the base is shared
ROUNDING = 1e-9  # nats; scores are sums of float64 numbers, so a smaller gap is rounding
HEAD_CHUNK_ELEMENTS = 2**25  # logits held at once by the LM head: 128 MB in float32
MAX_TOKENS_PER_FORWARD = 2**22  # input tokens of one forward pass
MAX_WARM_START_STEPS = 1_000_000
MAX_WARM_START_TOKENS = 2**22  # tokens of one step of a warm start
MAX_MEMORY_GIB = 4_096.0  # of one device
