/** What a field of `run.yaml` is for. */
export interface FieldMeaning {
  /** In Markdown, with links as they are from `docs/`. The first sentence says the most. */
  readonly meaning: string
  /** What holds without a field that has no default of its own. */
  readonly without?: string
}

/** By the fields' paths: what docs/configuration.md says of them, and the comments of a file that `init` writes. */
export const FIELD_MEANINGS: Readonly<Record<string, FieldMeaning>> = {
  dataDir: {
    meaning:
      'everything the coordinator keeps: key, event log, manifests, adapters, group bodies, spool, trainer log. One process per directory; only its owner can read it ([operating.md](operating.md), which also says how it is backed up)',
  },
  listen: {
    meaning:
      "libp2p addresses to listen on: all of the machine's, by IPv4 and IPv6, at port 4001. `/ip4/127.0.0.1/tcp/0` is reachable from the same machine only, at a free port",
  },
  announce: {
    meaning:
      'addresses to tell others instead of the ones listened on, with DNS names or for a machine behind a port mapping or a proxy: `/dns4/run.example.org/tcp/4001` ([operating.md](operating.md))',
  },
  uploadKiB: {
    meaning:
      'KiB/s that the coordinator sends of adapters and of the base model, all volunteers together, 64 at least; whoever finds it busy asks others. What is judged and answered is not counted',
    without: 'no limit',
  },
  'about.operator': {
    meaning: 'who runs the run, in your own words, up to 256 bytes. Invitations say it to strangers before they join',
  },
  'about.purpose': { meaning: 'what it is for, likewise' },
  'base.path': { meaning: 'the GGUF that volunteers run and the trainer dequantises' },
  'base.name': { meaning: "name of the base model: a hub id, or the file's own name" },
  'base.quantisation': { meaning: "label of the file's quantisation, part of the policy's id" },
  'base.toolCallFormat': {
    meaning:
      'how the model writes tool calls and goes on after them, and whether it is told to think ([trainer.md](trainer.md), "Dialects"): `hermes` for Qwen\'s models, `hermes-thinking` and `hermes-no-thinking` for those that can do both, `granite` for Granite 4. Part of the policy\'s id',
  },
  'base.sources': {
    meaning:
      "up to four places where volunteers find the same file beside the run's own nodes: an https URL, or `{hub: owner/name, revision: COMMIT, file: NAME}` for a file on huggingface.co. The file's hash decides, not the place. With any, the coordinator is asked only for what they do not give",
    without: '`[]`',
  },
  'tasks.dataset': {
    meaning:
      'folder of a data set of `prove-lab synthesize`; leases are drawn from its training split ([synthesis.md](synthesis.md))',
  },
  'tasks.environments': {
    meaning:
      'folders of worlds of your own that the data set plays in ([environments.md](environments.md)). Their code is run here, and volunteers need the same folders: their nodes are told the names, and never fetch code',
  },
  reward: {
    meaning:
      "what rollouts earn: `paper` or `outcome` ([reward.md](reward.md)). Part of the policy's id; nodes that do not know it stop and say so",
  },
  cacheType: {
    meaning:
      "how the volunteers' engines keep keys and values, `f16` or `q8_0`: the latter takes about half of the memory of a lane, needs flash attention, and is a little farther from exact, so it has its own calibrations ([operating.md](operating.md)). Part of the policy's id; engines change over to it by themselves",
  },
  groupSize: {
    meaning: 'rollouts per group, G. A group travels as one body of at most 4 MiB: 16 rollouts of 16,000 tokens fit',
  },
  batchGroups: { meaning: 'groups with reward variance that make one batch, and so one training step' },
  versions: { meaning: 'the run is complete when this version is published; version 0 is the bare base' },
  maxStaleness: {
    meaning: 'S: versions a group may be behind when it is trained on; also bounds how much work is handed out',
  },
  'leases.durationMs': { meaning: 'milliseconds until a lease lapses and is given up' },
  'leases.perNode': { meaning: 'leases one node may hold' },
  'verification.workers': {
    meaning:
      "processes that replay groups beside the coordinator's own, each of which takes 170 MB and up to a core; 0: its own thread replays them, one after the other ([scale.md](scale.md))",
  },
  'audit.calibrations': {
    meaning:
      'files of `prove-lab calibrate`, one per inference backend of the volunteers ([verification.md](verification.md)). Without any, stages 5 to 7 of judging are not run: only do so among people you trust. With some, nodes of other backends get no leases',
  },
  'audit.probation': {
    meaning:
      'groups of a key that are all audited, counted from its first or from its last doubtful one; then a share of this many to the number of groups since. Failed audits double both ([protocol.md](protocol.md), "Judging")',
  },
  'audit.leastShare': {
    meaning:
      'no key is audited on a smaller share of its groups. One that turns to cheating after a long honest time gets about 1 / share of them past the judge, then half as many each time, and none past the audit of the training forward ([attackers.md](attackers.md))',
  },
  'audit.processes': {
    meaning:
      'torchrun ranks of the process that audits, which share the forward passes of each audit; with a GPU one per GPU. Each holds the base model',
  },
  'influence.perKey': {
    meaning:
      'largest share of a batch from one key, in places: a group more than twice as long as usual takes as many as its sampled tokens are worth. Where the others at work cannot fill the rest it gives way',
  },
  'influence.perAddressBlock': {
    meaning:
      "the same for a /24 (IPv4) or /48 (IPv6) block of addresses: one person's many keys. It gives way before the share of a key does, so a run among machines of one network needs no other value",
  },
  'rounds.registrationMs': {
    meaning:
      'a new key gets leases from the next round on. One opens with every version, and when keys wait and the round is this old',
  },
  'limits.maxTurnTokens': { meaning: 'tokens the policy may sample in one assistant turn' },
  'limits.maxRolloutTokens': {
    meaning:
      'tokens of a rollout in all. Volunteers make room for so many, as far as their memory has it. Tasks of the `paper` profile need several thousand',
  },
  'limits.maxAssistantTurns': { meaning: 'assistant turns of a rollout' },
  'heldOut.tasks': {
    meaning:
      'held-out tasks of the data set that the coordinator itself has versions play, for a score that nobody trains on; 0 for none ([operating.md](operating.md), "Held-out scores")',
  },
  'heldOut.every': { meaning: 'versions from one score to the next; the last version of a run always gets one' },
  'heldOut.threads': { meaning: 'CPU threads that this takes, beside training' },
  'heldOut.gpu': { meaning: 'whether it takes a GPU. Base model and contexts then need room there beside training' },
  'trainer.python': {
    meaning: 'Python with the packages of `coordinator/trainer/requirements.txt`; a bare name is looked up in PATH',
    without: "the checkout's `.venv`, else what `prove-coordinator setup` made, else `python3`",
  },
  'trainer.processes': { meaning: 'ranks on a machine, several under torchrun' },
  'trainer.launch.hosts': {
    meaning:
      'machines on which the trainer runs in place of this one, by names or addresses at which they reach each other: `trainer.launch.command` is run for each ([trainer.md](trainer.md), "Several machines")',
  },
  'trainer.launch.nodes': {
    meaning: 'number of machines, for one command that starts the trainer on all of them',
    without: 'that of `trainer.launch.hosts`',
  },
  'trainer.launch.command': {
    meaning:
      'what starts the trainer on a machine, or on all of them, and lasts as long as it does: words, of which `{program}` stands for those of the program, `{shell}` for these as one word for a shell, `{host}` for the machine and `{life}` for this start. Required only with `trainer.launch`',
  },
  'trainer.launch.endpoint': {
    meaning: 'where the machines meet, `host:port`; needed without `trainer.launch.hosts`',
    without: 'port 29400 of the first host',
  },
  'trainer.launch.env': { meaning: 'environment of the trainer on all machines, for example `NCCL_SOCKET_IFNAME`' },
  'trainer.launch.silenceMs': {
    meaning:
      'ranks end when they have not heard of the coordinator for so long, and it starts them again when one of them is as silent. More than what a network file system hides a change for',
  },
  'trainer.preset': {
    meaning:
      '`paper`: the loss of arXiv 2606.03892 ([trainer.md](trainer.md), "Runs of real models"). What `trainer.settings` names goes before it',
    without: 'the defaults of `trainer.json`',
  },
  'trainer.settings': {
    meaning:
      'further settings of `trainer.json`: `lora`, `optimizer`, `loss` and more, see [trainer.md](trainer.md). `schema`, `baseSha256`, `baseModel.name` and `canaries` are filled in, and `optimizer.lr` and `optimizer.warmupSteps` by the size of the base model if they are not given',
  },
  'dashboard.enabled': {
    meaning:
      'whether the coordinator shows the run to browsers and to collectors of metrics ([operating.md](operating.md), "The dashboard")',
  },
  'dashboard.listen': {
    meaning:
      "where: an address of this machine with a port; port 0 is any free one. Another than this machine's own needs `tokenFile` or `public`",
  },
  'dashboard.tokenFile': {
    meaning: 'a file with one word of at least 16 characters, which visitors have to know',
    without: 'none: on this machine everybody may look',
  },
  'dashboard.public': {
    meaning:
      'whoever has no token may look too, at everything but rollouts and metrics; with a token the operator sees all',
  },
  'dashboard.hosts': {
    meaning: "names by which browsers may call it, beside addresses and `localhost`; a proxy's, for example",
  },
  manifestLifetimeMs: { meaning: 'milliseconds after which a published policy loses its force: 30 days' },
}
