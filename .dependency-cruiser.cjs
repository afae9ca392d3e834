/** The rooms of docs/architecture.md: what each top-level folder may import. A room that is not named here may not be imported. */
const MAY_IMPORT = {
  proto: [],
  control: [],
  cli: ['proto'],
  http: [],
  servers: ['http'],
  engine: [],
  chat: ['engine'],
  reward: ['servers'],
  episode: ['servers', 'reward', 'engine'],
  judging: ['proto', 'servers', 'engine', 'reward', 'episode'],
  dataset: ['servers', 'reward', 'episode'],
  environment: ['proto', 'cli', 'http', 'servers', 'chat', 'reward', 'episode', 'judging', 'dataset'],
  synthesis: ['servers', 'reward', 'chat', 'episode', 'dataset'],
  inference: ['http', 'engine', 'reward', 'episode', 'servers'],
  swarm: ['proto'],
  node: ['proto', 'cli', 'http', 'servers', 'engine', 'reward', 'episode', 'inference', 'swarm', 'judging', 'control'],
  coordinator: [
    'proto',
    'cli',
    'http',
    'servers',
    'engine',
    'reward',
    'episode',
    'judging',
    'dataset',
    'swarm',
    'control',
  ],
  lab: [
    'proto',
    'cli',
    'servers',
    'engine',
    'chat',
    'reward',
    'episode',
    'judging',
    'dataset',
    'environment',
    'synthesis',
    'swarm',
    'coordinator',
  ],
}
/** The wings of the coordinator, likewise. `main.ts` puts the commands together and may import them all. */
const COORDINATOR_WINGS = {
  settings: [],
  spool: [],
  ledger: ['settings'],
  backup: ['settings', 'spool', 'ledger'],
  report: ['settings', 'ledger'],
  leases: ['settings', 'ledger'],
  intake: ['settings', 'spool', 'ledger'],
  versions: ['settings', 'spool', 'ledger', 'leases', 'intake'],
  dashboard: ['settings', 'ledger', 'report'],
  service: ['settings', 'spool', 'ledger', 'report', 'leases', 'intake', 'versions', 'dashboard'],
  commands: ['settings', 'spool', 'ledger', 'backup', 'report', 'service'],
}
/** The base of every room's errors and how counts are said in them, which any of them may import. */
const GROUND = 'errors'
const rooms = Object.keys(MAY_IMPORT)
const wings = Object.keys(COORDINATOR_WINGS)
/** Rooms that know what a world is, and no world: they import the kernel and nothing else of `servers/`. */
const KERNEL_ONLY = ['reward', 'episode', 'inference', 'judging', 'dataset']

/** Third-party packages that exactly one file may import (one adapter file per third-party API). */
const ONE_ADAPTER = {
  'node-llama-cpp': '^engine/(llama|native)\\.ts$',
  '@chainsafe/libp2p-gossipsub': '^swarm/(gossip|host)\\.ts$',
  pidusage: '^engine/memory-guard\\.ts$',
  level: '^(node/store|coordinator/ledger/event-log)\\.ts$',
  '@modelcontextprotocol/(sdk|server)': '^servers/kernel/mcp/',
  '@seriousme/openapi-schema-validator': '^servers/authoring/importing/openapi\\.ts$',
  protobufjs: '^proto/',
  'hyparquet-writer': '^(dataset/parquet|coordinator/report/run-tables)\\.ts$',
  echarts: '^(dataset/plots|coordinator/dashboard/charts)\\.ts$',
  'prom-client': '(^swarm|/[a-z]+)/metrics\\.ts$',
  systeminformation: '^node/machine/battery-and-heat\\.ts$',
  '@libp2p/prometheus-metrics': '^swarm/metrics\\.ts$',
  qr: '^coordinator/(commands/invitation|dashboard/pages/join)\\.ts$',
  '@peculiar/asn1-x509': '^coordinator/versions/run-certificate\\.ts$',
  '@huggingface/hub': '^node/adapters/hub\\.ts$',
  openai: '^chat/openai-chat\\.ts$',
  'es-module-lexer': '^servers/authoring/source\\.ts$',
}

const mayNot = (folders, own, allowed) => folders.filter((other) => other !== own && !allowed.includes(other)).join('|')

module.exports = {
  forbidden: [
    ...rooms.map((room) => ({
      name: `rooms-${room}`,
      severity: 'error',
      from: { path: `^${room}/` },
      to: { path: `^(${mayNot(rooms, room, MAY_IMPORT[room])})/` },
    })),
    ...wings.map((wing) => ({
      name: `wings-${wing}`,
      severity: 'error',
      from: { path: `^coordinator/${wing}/` },
      to: { path: `^coordinator/((${mayNot(wings, wing, COORDINATOR_WINGS[wing])})/|main\\.ts)` },
    })),
    {
      name: 'ground',
      comment: 'What lies under all rooms imports none of them.',
      severity: 'error',
      from: { path: `^${GROUND}/` },
      to: { path: `^(${rooms.join('|')})/` },
    },
    {
      name: 'every-file-in-a-wing',
      comment: 'A file beside the wings has no place in their order.',
      severity: 'error',
      from: { path: '^coordinator/[^/]+\\.ts$', pathNot: '^coordinator/main\\.ts$' },
      to: {},
    },
    {
      name: 'kernel-only',
      severity: 'error',
      from: { path: `^(${KERNEL_ONLY.join('|')})/` },
      to: { path: '^servers/(?!kernel/)' },
    },
    {
      name: 'kernel-knows-no-world',
      severity: 'error',
      from: { path: '^servers/kernel/' },
      to: { path: '^servers/(?!kernel/)' },
    },
    {
      name: 'authors-know-no-world',
      comment: 'What checks and loads worlds of others treats ours like them.',
      severity: 'error',
      from: { path: '^servers/authoring/' },
      to: { path: '^servers/(?!kernel/|authoring/|catalogue\\.ts)' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-tests-in-product',
      severity: 'error',
      from: { path: `^(${rooms.join('|')})/` },
      to: { path: '^(test|bench|scripts)/' },
    },
    ...Object.entries(ONE_ADAPTER).map(([name, adapter]) => ({
      name: `one-adapter-${name.replaceAll(/[^a-z]+/g, '-')}`,
      severity: 'error',
      from: { path: `^(${rooms.join('|')})/`, pathNot: adapter },
      to: { path: `node_modules/${name}/` },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '^proto/gen/' },
  },
}
