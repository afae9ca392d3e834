// The import rules as tables. `.dependency-cruiser.cjs` checks the code with them, and a test compares docs/architecture.md with them.

/**
 * The packages of docs/architecture.md: what each may import. `common/errors` is below all of them, and every package may import it.
 * A package that is not named here may not be imported.
 */
const MAY_IMPORT = {
  proto: [],
  'common/cleanup': [],
  'common/control': [],
  'common/cli': ['proto'],
  'common/http': [],
  servers: ['common/http'],
  'servers/episodes': [
    'proto',
    'common/cleanup',
    'common/cli',
    'common/http',
    'servers',
    'rollout/chat',
    'rollout/reward',
    'rollout/episode',
    'rollout/verification',
    'tasks/dataset',
  ],
  'rollout/engine': [],
  'rollout/chat': ['rollout/engine'],
  'rollout/reward': ['servers'],
  'rollout/episode': ['servers', 'rollout/engine', 'rollout/reward'],
  'rollout/verification': ['proto', 'servers', 'rollout/engine', 'rollout/reward', 'rollout/episode'],
  'rollout/inference': ['common/http', 'servers', 'rollout/engine', 'rollout/reward', 'rollout/episode'],
  'tasks/dataset': ['servers', 'rollout/reward', 'rollout/episode'],
  'tasks/synthesis': ['servers', 'rollout/chat', 'rollout/reward', 'rollout/episode', 'tasks/dataset'],
  swarm: ['proto'],
  node: [
    'proto',
    'common/cleanup',
    'common/control',
    'common/cli',
    'common/http',
    'servers',
    'rollout/engine',
    'rollout/reward',
    'rollout/episode',
    'rollout/verification',
    'rollout/inference',
    'swarm',
  ],
  coordinator: [
    'proto',
    'common/cleanup',
    'common/control',
    'common/cli',
    'common/http',
    'servers',
    'rollout/engine',
    'rollout/reward',
    'rollout/episode',
    'rollout/verification',
    'tasks/dataset',
    'swarm',
  ],
  lab: [
    'proto',
    'common/cleanup',
    'common/cli',
    'servers',
    'servers/episodes',
    'rollout/engine',
    'rollout/chat',
    'rollout/reward',
    'rollout/episode',
    'rollout/verification',
    'tasks/dataset',
    'tasks/synthesis',
    'swarm',
    'coordinator',
  ],
}
/** The subpackages of the coordinator, likewise. `main.ts` puts the commands together and may import them all. */
const COORDINATOR_SUBPACKAGES = {
  settings: [],
  jobs: [],
  ledger: ['settings'],
  backup: ['settings', 'jobs', 'ledger'],
  report: ['settings', 'ledger'],
  leases: ['settings', 'ledger'],
  intake: ['settings', 'jobs', 'ledger'],
  versions: ['settings', 'jobs', 'ledger', 'leases', 'intake'],
  dashboard: ['settings', 'ledger', 'report'],
  service: ['settings', 'jobs', 'ledger', 'report', 'leases', 'intake', 'versions', 'dashboard'],
  commands: ['settings', 'jobs', 'ledger', 'backup', 'report', 'service'],
}

/** Packages that work with any environment: they import the kernel and nothing else of `servers/`. */
const KERNEL_ONLY = ['rollout/reward', 'rollout/episode', 'rollout/inference', 'rollout/verification', 'tasks/dataset']

/** Third-party packages that exactly one file may import (one adapter file per third-party API). */
const ONE_ADAPTER = {
  'node-llama-cpp': '^rollout/engine/(llama|native)\\.ts$',
  '@chainsafe/libp2p-gossipsub': '^swarm/(gossip|host)\\.ts$',
  pidusage: '^rollout/engine/memory-guard\\.ts$',
  level: '^(node/store|coordinator/ledger/event-log)\\.ts$',
  '@modelcontextprotocol/(sdk|server)': '^servers/kernel/mcp/',
  '@seriousme/openapi-schema-validator': '^servers/authoring/importing/openapi\\.ts$',
  protobufjs: '^proto/',
  'hyparquet-writer': '^(tasks/dataset/parquet|coordinator/report/run-tables)\\.ts$',
  echarts: '^(tasks/dataset/plots|coordinator/dashboard/charts)\\.ts$',
  'prom-client': '(^swarm|/[a-z]+)/metrics\\.ts$',
  systeminformation: '^node/machine/battery-and-heat\\.ts$',
  '@libp2p/prometheus-metrics': '^swarm/metrics\\.ts$',
  qr: '^coordinator/(commands/invitation|dashboard/pages/join)\\.ts$',
  '@peculiar/asn1-x509': '^coordinator/versions/run-certificate\\.ts$',
  '@huggingface/hub': '^node/adapters/hub\\.ts$',
  openai: '^rollout/chat/openai-chat\\.ts$',
  'es-module-lexer': '^servers/authoring/source\\.ts$',
}

module.exports = { MAY_IMPORT, COORDINATOR_SUBPACKAGES, KERNEL_ONLY, ONE_ADAPTER }
