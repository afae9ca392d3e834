import { Session } from 'node:inspector/promises'
import type { TurnMeter } from '../chaos/virtual-time.js'

/** Microseconds between two samples of the stack. */
const INTERVAL_US = 1000

interface CallFrame {
  readonly functionName: string
  readonly url: string
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: CallFrame
  readonly children?: readonly number[]
}

/** A part of the coordinator's processor time. */
export interface ProfilePart {
  readonly part: string
  /** Share of the samples, without collections of garbage. */
  readonly share: number
}

/** Profile of the coordinator's turns. */
export interface CoordinatorProfile {
  /** Milliseconds of the main thread in its turns, without collections of garbage. */
  readonly ms: number
  /** Milliseconds of collections of garbage in its turns. They are of the memory of all nodes. */
  readonly collectingMs: number
  /** The largest first. */
  readonly parts: readonly ProfilePart[]
  /** Functions with the largest shares of their own. */
  readonly functions: readonly ProfilePart[]
}

/**
 * Parts by the files that they are in. A sample belongs to the innermost function of the stack that is in one of them, so what a library
 * does counts for its caller.
 */
const PARTS: readonly (readonly [part: string, files: RegExp])[] = [
  ['files: head of the log, bodies, manifests', /\/test\/chaos\/sim-(disk|process)\./],
  ['the simulation itself', /\/test\//],
  [
    'log: hash chain, JSON, database',
    /\/coordinator\/ledger\/(chained-log|log-chain|event-log|log-head)\.|\/(classic|abstract)-level\/|\/level\//,
  ],
  ['log: check of each event', /\/coordinator\/ledger\/events\./],
  ['log: recorder', /\/coordinator\/ledger\/recorder\./],
  ['checkpoints', /\/coordinator\/ledger\/(checkpoint|state-snapshot|run-records)/],
  ['run state', /\/coordinator\/(ledger|report)\//],
  [
    'signatures and hashes',
    /\/proto\/(envelope|content-id|log-head)\.|@noble\/|@libp2p\/crypto|@libp2p\/peer-id|node:crypto|internal\/crypto/,
  ],
  ['protobuf', /\/proto\/|\/protobufjs\//],
  ['leases', /\/coordinator\/leases\//],
  ['replays and checks of groups', /\/(rollout|servers)\//],
  ['intake', /\/coordinator\/(intake|jobs)\//],
  ['versions and batches', /\/coordinator\/versions\//],
  ['providers', /\/coordinator\/service\/providers\./],
  ['services', /\/coordinator\/service\//],
  ['streams', /\/swarm\//],
  ['nodes', /\/node\//],
]
const GARBAGE = '(garbage collector)'
const IDLE: ReadonlySet<string> = new Set(['(idle)', '(root)'])
const SHOWN_FUNCTIONS = 40

/** Takes samples of the stack, and keeps those of one machine's turns. */
export interface Profiler {
  readonly turn: TurnMeter
  stop(): Promise<CoordinatorProfile>
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n)

export async function startProfiler(owner: string): Promise<Profiler> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  await session.post('Profiler.start')
  /** Beginnings and ends of the turns, in turn. */
  const turns: number[] = []
  return {
    turn(machine) {
      if (machine !== owner) return () => undefined
      turns.push(nowUs())
      return () => void turns.push(nowUs())
    },
    async stop() {
      const { profile } = await session.post('Profiler.stop')
      session.disconnect()
      return summarise(profile as Parameters<typeof summarise>[0], turns)
    },
  }
}

function summarise(
  {
    nodes,
    samples = [],
    timeDeltas = [],
    startTime,
  }: {
    readonly nodes: readonly ProfileNode[]
    readonly samples?: readonly number[]
    readonly timeDeltas?: readonly number[]
    readonly startTime: number
  },
  turns: readonly number[],
): CoordinatorProfile {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const partOf = new Map<number, string>()
  const partAt = (id: number): string => {
    const known = partOf.get(id)
    if (known !== undefined) return known
    let part: string | undefined
    for (let at: number | undefined = id; part === undefined && at !== undefined; at = parents.get(at)) {
      const { url } = byId.get(at)!.callFrame
      part = PARTS.find(([, files]) => files.test(url))?.[0]
    }
    partOf.set(id, part ?? 'Node.js itself')
    return part ?? 'Node.js itself'
  }
  const parts = new Map<string, number>()
  const functions = new Map<string, number>()
  let [atUs, turn, spentUs, collectingUs] = [startTime, 0, 0, 0]
  for (const [i, id] of samples.entries()) {
    const deltaUs = timeDeltas[i]!
    atUs += deltaUs
    while (turn + 1 < turns.length && turns[turn + 1]! < atUs) turn += 2
    if (turn >= turns.length || turns[turn]! > atUs) continue
    const { functionName, url } = byId.get(id)!.callFrame
    if (IDLE.has(functionName)) continue
    if (functionName === GARBAGE) {
      collectingUs += deltaUs
      continue
    }
    spentUs += INTERVAL_US
    const part = partAt(id)
    parts.set(part, (parts.get(part) ?? 0) + 1)
    const name = `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')} [${part}]`
    functions.set(name, (functions.get(name) ?? 0) + 1)
  }
  const count = spentUs / INTERVAL_US
  const sharesOf = (counts: ReadonlyMap<string, number>): ProfilePart[] =>
    [...counts].map(([part, samples]) => ({ part, share: samples / count })).sort((a, b) => b.share - a.share)
  return {
    ms: spentUs / 1000,
    collectingMs: collectingUs / 1000,
    parts: sharesOf(parts),
    functions: sharesOf(functions).slice(0, SHOWN_FUNCTIONS),
  }
}
