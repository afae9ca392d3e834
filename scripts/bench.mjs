// Runs one benchmark and prints its numbers, without a verdict. Usage: npm run bench -- NAME [--json]
import { readFileSync } from 'node:fs'
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { root, startGroup } from './processes.mjs'
import { setUpFirst } from './set-up-first.mjs'

const LIMIT_MS = 30 * 60_000

/** The benchmarks. `packages`: the packages whose versions the report names. */
const BENCHES = {
  audit: { about: 'dishonest groups caught and honest groups rejected', packages: ['node-llama-cpp'] },
  coordinator: {
    about: 'capacity of one coordinator with 100, 1,000 and 10,000 nodes, and its log',
    packages: ['level', 'libp2p'],
  },
  credit: { about: 'credit for useful groups and for noise', packages: ['node-llama-cpp'] },
  differences: { about: 'bytes of successive adapters of a run (PROVE_BENCH_STEPS)', packages: [] },
  draw: { about: 'cost of selecting a token, compared with the forward pass', packages: ['node-llama-cpp'] },
  env: { about: 'environments: sessions, forks and tool calls', packages: ['@modelcontextprotocol/sdk', 'zod'] },
  episodes: {
    about: '`prove-server env`: episodes per second and memory per episode, compared with tau2',
    packages: ['hono'],
  },
  gossip: { about: 'gossip of a node in runs of 1,000, 10,000 and 100,000', packages: [] },
  judge: {
    about: 'verification of groups: speed, audits, time to a verdict, memory of leases',
    packages: ['node-llama-cpp', 'libp2p'],
  },
  quantised: {
    about: 'volunteers with quantised weights or caches: how many tokens tell them from honest ones',
    packages: ['node-llama-cpp'],
  },
  rollout: { about: "groups on one CPU thread, compared with llama.cpp's server", packages: ['node-llama-cpp'] },
  round: {
    about: 'a round of the swarm, compared with the same work in one process (PROVE_BENCH_VERSIONS)',
    packages: ['node-llama-cpp', 'libp2p'],
  },
  snapshot: { about: 'adapter downloads from several peers', packages: ['libp2p', '@libp2p/noise', '@libp2p/yamux'] },
  'sybil-lockout': { about: 'versions and new volunteers while other keys only take leases', packages: [] },
  synthesis: { about: "the paper's 13,517 examples, synthesised and replayed", packages: ['zod', 'tinypool'] },
  trainer: { about: "one training step, compared with TRL's GRPOTrainer", python: 'test/bench/trainer_bench.py' },
  'trainer-gpu': {
    about: 'one training step with the shapes of real models on a CUDA device',
    python: 'test/bench/trainer_gpu.py',
  },
}

const fail = (message) => {
  console.error(`bench: ${message}`)
  process.exit(2)
}

function readArguments() {
  const choices = Object.entries(BENCHES).map(([name, { about }]) => `\n  ${name.padEnd(13)} ${about}`)
  try {
    const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true })
    const [name, ...more] = positionals
    if (name === undefined || more.length > 0) fail(`name one benchmark:${choices.join('')}`)
    if (!Object.hasOwn(BENCHES, name)) fail(`there is no benchmark "${name}"; choose from:${choices.join('')}`)
    return { name, json: values.json ?? false }
  } catch (error) {
    return fail(error.message)
  }
}

async function runModule(name, packages) {
  const { run } = await import(`../dist/test/bench/${name}.js`)
  const pinned = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')).packages
  const versions = Object.fromEntries(packages.map((pack) => [pack, pinned[`node_modules/${pack}`].version]))
  const { versions: others, results } = await run()
  return { versions: { ...versions, ...others }, results }
}

/** Runs a Python benchmark, which prints one JSON object with `versions` and `results`. */
async function runPython(script) {
  const child = startGroup(`${root}.venv/bin/python`, [script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LIMIT_MS,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (status !== 0) fail(`${script} ended with status ${status}`)
  return JSON.parse(output)
}

async function show({ name, machine, versions, results }) {
  const { default: Table } = await import('cli-table3')
  const table = new Table({
    head: ['metric', 'value', 'unit', 'ratio', 'compared with'],
    style: { head: [], border: [] },
  })
  for (const { metric, value, unit, peer, ratio } of results) {
    table.push([
      metric,
      Number(value.toPrecision(4)),
      unit,
      ratio === undefined ? '' : ratio.toPrecision(3),
      peer ?? '',
    ])
  }
  console.log(`${name}: ${machine.cpu}, ${machine.cores} cores, ${machine.platform}`)
  console.log(Object.entries(versions).flat().join(' '))
  console.log(table.toString())
}

const { name, json } = readArguments()
const { packages, python } = BENCHES[name]
setUpFirst(python === undefined ? [] : ['--tests'])
const { versions, results } = python ? await runPython(python) : await runModule(name, packages)
const machine = {
  platform: `${platform()} ${release()} ${arch()}`,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
}
const report = { name, machine, versions: { node: process.versions.node, ...versions }, results }
if (json) console.log(JSON.stringify(report))
else await show(report)
