/** Description of a field of `run.yaml`. */
export interface FieldMeaning {
  /** Markdown, with links relative to `docs/`. The first sentence is the comment in the file of `init`. */
  readonly meaning: string
  /** Behaviour without a field that has no default. */
  readonly without?: string
}

/** Descriptions by field path, for docs/reference/configuration.md and for the comments of a file that `init` writes. */
export const FIELD_MEANINGS: Readonly<Record<string, FieldMeaning>> = {
  dataDir: {
    meaning:
      'folder for all data of the coordinator: key, event log, manifests, adapters, group bodies, jobs, trainer log. One process per folder. Only its owner can read it ([start-a-run.md](../operate/start-a-run.md))',
  },
  listen: {
    meaning:
      'libp2p addresses to listen on: by default all IPv4 and IPv6 addresses of the machine, at port 4001. Use `/ip4/127.0.0.1/tcp/0` for the same machine only, at a free port',
  },
  announce: {
    meaning:
      'addresses to announce instead of those of `listen`, with DNS names or for a machine behind a port mapping or a proxy: `/dns4/run.example.org/tcp/4001` ([start-a-run.md](../operate/start-a-run.md))',
  },
  uploadKiB: {
    meaning:
      'upload limit in KiB/s for everything that the coordinator sends on streams, to all volunteers together, at least 64. A volunteer that finds the coordinator busy asks other peers. Answers up to 64 KiB count and do not wait',
    without: 'no limit',
  },
  'about.operator': {
    meaning:
      'who operates the run, in your own words, up to 256 bytes. Invitations show it to strangers before they join',
  },
  'about.purpose': { meaning: 'purpose of the run, in your own words, up to 256 bytes. Invitations show it' },
  'base.path': { meaning: 'the GGUF file that volunteers run and the trainer dequantises' },
  'base.name': { meaning: "name of the base model: a hub id, or the file's own name" },
  'base.quantisation': { meaning: "label of the file's quantisation, part of the policy's id" },
  'base.toolCallFormat': {
    meaning:
      'how the model writes tool calls and continues after them, and whether it is asked to think ([trainer.md](trainer.md#tool-call-formats), "Tool-call formats"): `hermes` for models of Qwen, `hermes-thinking` and `hermes-no-thinking` for models that can do both, `granite` for Granite 4, `code-block` for several calls in a block, after a warm start. Part of the policy\'s id',
  },
  'base.sources': {
    meaning:
      "up to four places where volunteers find the same file, in addition to the run's own nodes: an https URL, or `{hub: owner/name, revision: COMMIT, file: NAME}` for a file on huggingface.co. The hash of the file decides, not the place. With any, volunteers ask the coordinator only for chunks that these places do not provide",
    without: '`[]`',
  },
  'tasks.dataset': {
    meaning:
      'folder of a data set of `prove-lab synthesize`, or a list of such folders. Leases use their training splits ([synthesis.md](../explain/synthesis.md)). Each task has the same share of the leases, so the sizes of the data sets are the proportions of a mixture',
  },
  'tasks.environments': {
    meaning:
      'folders of your own environments that the data set uses ([write.md](../environments/write.md)). The coordinator runs their code. Volunteers need the same folders: their nodes get the names, and never download code',
  },
  reward: {
    meaning:
      "reward preset of rollouts: `paper`, `outcome`, `solved` or `orchestration` ([reward.md](../explain/reward.md)). Part of the policy's id. Nodes that do not know the preset stop with a message",
  },
  cacheType: {
    meaning:
      "type of the volunteers' KV caches, `f16` or `q8_0`. The latter takes about half of the memory of a slot, needs flash attention, and is less exact, so it needs its own calibrations ([calibrate.md](../operate/calibrate.md)). Part of the policy's id. Engines switch to it automatically",
  },
  groupSize: {
    meaning: 'rollouts per group, G. A group is sent as one body of at most 4 MiB: 16 rollouts of 16,000 tokens fit',
  },
  batchGroups: { meaning: 'groups with reward variance per batch. A batch makes one training step' },
  versions: { meaning: 'the run is complete when this version is published. Version 0 is the bare base model' },
  maxStaleness: {
    meaning:
      'S: versions that a group may be behind when it is trained on. Also bounds how much work is leased at a time',
  },
  'leases.durationMs': { meaning: 'milliseconds after which a lease without renewal lapses' },
  'leases.perNode': { meaning: 'largest number of open leases per node' },
  'verification.workers': {
    meaning:
      "processes that replay groups in addition to the coordinator's own. Each takes 170 MB and up to a core. 0: the coordinator's own thread replays groups one after the other ([scale.md](../explain/scale.md))",
  },
  'audit.calibrations': {
    meaning:
      'files of `prove-lab calibrate`, one per inference backend of the volunteers ([calibrate.md](../operate/calibrate.md)). Without any, verification checks 5 to 7 do not run: only do so among people you trust. With some, nodes with other backends get no leases',
  },
  'audit.probation': {
    meaning:
      'number of groups of a key that are all audited, counted from its first or from its last doubtful one. Afterwards the audited share is this number divided by the number of groups since. Failed audits double both ([protocol.md](protocol.md#verification), "Verification")',
  },
  'audit.leastShare': {
    meaning:
      "smallest share of a key's groups that is audited. A key that turns to cheating after a long honest time gets about 1 / share groups accepted, then half as many each time, and none past the audit by the training forward ([attackers.md](../explain/attackers.md))",
  },
  'audit.processes': {
    meaning:
      'torchrun ranks of the audit process, which share the forward passes of each audit. With GPUs, one per GPU. Each rank loads the base model',
  },
  'influence.perKey': {
    meaning:
      'largest share of a batch from one key, in places. A group of more than twice the usual length takes as many places as its sampled tokens are worth. The share grows where the other keys at work cannot fill the rest',
  },
  'influence.perAddressBlock': {
    meaning:
      "largest share of a batch from one /24 (IPv4) or /48 (IPv6) block of addresses, against one person's many keys. It grows before the share of a key does, so a run among machines of one network needs no other value",
  },
  'rounds.registrationMs': {
    meaning:
      'age of a round (ms) at which the next one opens when new keys wait: a new key gets leases from the next round on. A round also opens with every version',
  },
  'limits.maxTurnTokens': { meaning: 'largest number of tokens that the policy may sample in one assistant turn' },
  'limits.maxRolloutTokens': {
    meaning:
      'largest number of tokens of a rollout. Volunteers reserve memory for as many, if they can. Tasks of the `paper` profile need several thousand',
  },
  'limits.maxAssistantTurns': { meaning: 'largest number of assistant turns of a rollout' },
  'heldOut.tasks': {
    meaning:
      'number of held-out tasks that the coordinator plays to score versions. They are not trained on. 0: no scores ([observe.md](../operate/observe.md), "Held-out scores")',
  },
  'heldOut.every': { meaning: 'versions between two scores. The last version of a run always gets one' },
  'heldOut.threads': { meaning: 'CPU threads for scoring, in addition to training' },
  'heldOut.gpu': {
    meaning: 'whether scoring uses a GPU. It needs memory for base model and contexts in addition to training',
  },
  'trainer.python': {
    meaning: 'Python with the packages of `coordinator/trainer/requirements.txt`. A bare name is looked up in PATH',
    without: "the checkout's `.venv`, else the result of `prove-coordinator setup`, else `python3`",
  },
  'trainer.processes': { meaning: 'ranks per machine, several of them under torchrun' },
  'trainer.launch.hosts': {
    meaning:
      'machines on which the trainer runs instead of this one, by names or addresses at which they reach each other. `trainer.launch.command` runs once for each ([several-machines.md](../operate/several-machines.md#several-machines), "Several machines")',
  },
  'trainer.launch.nodes': {
    meaning: 'number of machines, for one command that starts the trainer on all of them',
    without: 'number of `trainer.launch.hosts`',
  },
  'trainer.launch.command': {
    meaning:
      'command that starts the trainer on a machine, or on all of them, and runs as long as the trainer: a list of words. `{program}` stands for the words of the program, `{shell}` for these as one quoted word, `{host}` for the machine and `{life}` for this start. Required only with `trainer.launch`',
  },
  'trainer.launch.endpoint': {
    meaning: 'rendezvous of the machines, `host:port`. Needed without `trainer.launch.hosts`',
    without: 'port 29400 of the first host',
  },
  'trainer.launch.env': {
    meaning: 'environment variables of the trainer on all machines, for example `NCCL_SOCKET_IFNAME`',
  },
  'trainer.launch.silenceMs': {
    meaning:
      'milliseconds without a sign of life after which ranks end, or the coordinator restarts them. Must exceed the time for which a network file system hides a change',
  },
  'trainer.preset': {
    meaning:
      '`paper`: the loss of arXiv 2606.03892 ([real-models.md](../operate/real-models.md), "Runs of real models"). Fields of `trainer.settings` take precedence',
    without: 'the defaults of `trainer.json`',
  },
  'trainer.settings': {
    meaning:
      'further settings of `trainer.json`: `lora`, `optimizer`, `loss` and more, see [trainer.md](trainer.md). The coordinator fills in `schema`, `baseSha256`, `baseModel.name` and `canaries`, and, unless given, `optimizer.lr` and `optimizer.warmupSteps` by the size of the base model',
  },
  'rederivation.versions': {
    meaning:
      'number of the newest versions for which the coordinator publishes and keeps what a stranger needs to make their training steps again: batch, optimizer state and random state ([verify-a-run.md](../use-a-model/verify-a-run.md)). 0: none',
    without: 'all versions',
  },
  'rederivation.credit': {
    meaning:
      'credit for a volunteer who makes a published step again and reports the result: for the first three reports on each version by keys that deliver groups. The coordinator cannot see whether a reporter did the work ([verify-a-run.md](../use-a-model/verify-a-run.md)). 0: none',
  },
  'dashboard.enabled': {
    meaning:
      'whether the coordinator serves the dashboard to browsers and to Prometheus ([observe.md](../operate/observe.md#the-dashboard), "The dashboard")',
  },
  'dashboard.listen': {
    meaning:
      'address of the dashboard: an address of this machine with a port. Port 0 is any free port. An address that other machines can reach needs `tokenFile` or `public`',
  },
  'dashboard.tokenFile': {
    meaning: 'file with the token of the run: one word of at least 16 characters',
    without: 'no token: everyone on this machine may look',
  },
  'dashboard.public': {
    meaning:
      'whether visitors without a token see everything but rollouts and metrics. With a token, the operator sees all',
  },
  'dashboard.hosts': {
    meaning: 'host names that browsers may use, in addition to addresses and `localhost`, for example of a proxy',
  },
  'backups.everyMs': { meaning: 'milliseconds between two backups that a running coordinator makes of itself' },
  'backups.keep': {
    meaning: 'number of these backups that are kept; the oldest is removed. 0: the coordinator makes none',
  },
  'backups.folder': {
    meaning: 'folder of these backups, best on another disk. A backup contains the key of the run',
    without: '`backups` in `dataDir`',
  },
  manifestLifetimeMs: { meaning: 'milliseconds after which a published policy expires: 30 days' },
}
