/** The rooms of docs/architecture.md: what each top-level folder may import. A room that is not named here may not be imported. */
const MAY_IMPORT = {
  proto: [],
  servers: [],
  engine: [],
  reward: ['servers'],
  episode: ['servers', 'reward', 'engine'],
  synthesis: ['servers', 'reward', 'engine', 'episode'],
  swarm: ['proto'],
  judging: ['proto', 'servers', 'engine', 'reward', 'episode'],
  node: ['proto', 'servers', 'engine', 'reward', 'episode', 'swarm', 'judging'],
  coordinator: ['proto', 'servers', 'engine', 'reward', 'episode', 'synthesis', 'swarm', 'judging'],
}
const rooms = Object.keys(MAY_IMPORT)

/** Third-party packages that exactly one file may import (one adapter file per third-party API). */
const ONE_ADAPTER = {
  'node-llama-cpp': '^engine/llama\\.ts$',
  '@chainsafe/libp2p-gossipsub': '^swarm/(gossip|host)\\.ts$',
  pidusage: '^engine/memory-guard\\.ts$',
  level: '^(node|coordinator)/store\\.ts$',
  '@modelcontextprotocol/sdk': '^servers/kernel/mcp/',
  protobufjs: '^proto/',
  'hyparquet-writer': '^synthesis/dataset/parquet\\.ts$',
  echarts: '^synthesis/dataset/plots\\.ts$',
  openai: '^synthesis/teacher/openai-chat\\.ts$',
}

module.exports = {
  forbidden: [
    ...rooms.map((room) => ({
      name: `rooms-${room}`,
      severity: 'error',
      from: { path: `^${room}/` },
      to: { path: `^(${rooms.filter((other) => other !== room && !MAY_IMPORT[room].includes(other)).join('|')})/` },
    })),
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
