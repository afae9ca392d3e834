import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SwarmRefusal } from '../../proto/index.js'
import { seededRandom } from '../../servers/kernel/index.js'
import { TransportError } from '../../swarm/index.js'
import { ACTS, type Scene } from './acts.js'
import type { InForce, Order, Report, Sample } from './messages.js'
import { openSoakNode, type SoakNode } from './soak-node.js'
import { FLAT_GROWTH, sparkline, type Trend, trendOf } from './trend.js'

export interface SoakOptions {
  readonly messages: number
  readonly minutes: number
  readonly seed: number
  onSample(sample: Sample, messages: number): void
}

export interface SoakResult {
  readonly messages: number
  readonly seconds: number
  /** Counts by action and outcome: `ok`, or the code of the rejection. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly samples: readonly Sample[]
  readonly restarted: Sample
  readonly trend: Trend
}

const HONEST = 8
const LIARS = 6
const WORKERS = 8
const SAMPLES = 40
/** Messages before the first sample, while caches fill and code is compiled. */
const WARM_UP = 0.1

/** The coordinator's process and its reports. */
interface UnderLoad {
  readonly inForce: () => InForce
  sample(): Promise<Sample>
  /** Starts the coordinator again from its log, in the same process. */
  restart(): Promise<void>
  close(): Promise<void>
}

async function startUnderLoad(): Promise<UnderLoad> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./coordinator-process.js', import.meta.url)))
  let inForce: InForce | null = null
  const waiting: { readonly type: Report['type']; resolve(report: Report): void; reject(why: Error): void }[] = []
  child.on('message', (report: Report) => {
    if (report.type === 'in-force') inForce = report
    const at = waiting.findIndex(({ type }) => type === report.type)
    if (at >= 0) waiting.splice(at, 1)[0]!.resolve(report)
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  void ended.then(() => {
    for (const { reject } of waiting.splice(0)) reject(new Error('the coordinator’s process ended'))
  })
  const next = <T extends Report['type']>(type: T, order?: Order): Promise<Extract<Report, { type: T }>> =>
    new Promise((resolve, reject) => {
      waiting.push({ type, resolve: resolve as (report: Report) => void, reject })
      if (order) child.send(order)
    })
  await next('in-force')
  return {
    inForce: () => inForce!,
    sample: () => next('sample', 'sample'),
    restart: async () => void (await next('in-force', 'restart')),
    async close() {
      if (child.connected) child.send('stop' satisfies Order)
      await ended
    },
  }
}

/** Sends thousands of honest and hostile messages over real connections and measures the memory that they leave in the coordinator. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const random = seededRandom(options.seed)
  const under = await startUnderLoad()
  const honest: SoakNode[] = []
  const liars: SoakNode[] = []
  const closeAll = async (): Promise<void> => {
    for (const node of [...honest.splice(0), ...liars.splice(0)]) await node.close()
  }
  try {
    for (let i = 0; i < HONEST; i++) honest.push(await openSoakNode(under.inForce))
    for (let i = 0; i < LIARS; i++) liars.push(await openSoakNode(under.inForce))
    const scene: Scene = { random, inForce: under.inForce, honest, liars, delivered: [] }
    const acts = Object.entries(ACTS).flatMap(([name, [share, act]]) => Array(share).fill({ name, act }) as Deed[])
    const outcomes: Record<string, Record<string, number>> = {}
    const samples: Sample[] = []
    const started = performance.now()
    const over = (): boolean => performance.now() - started > options.minutes * 60_000
    let messages = 0
    let sampleAt = options.messages * WARM_UP
    let sampling: Promise<void> | null = null
    const sampleIfDue = async (): Promise<void> => {
      if (messages < sampleAt) return
      sampleAt += (options.messages * (1 - WARM_UP)) / SAMPLES
      sampling ??= under.sample().then((sample) => {
        samples.push(sample)
        options.onSample(sample, messages)
        sampling = null
      })
      await sampling
    }
    const work = async (): Promise<void> => {
      while (messages < options.messages && !over()) {
        const { name, act } = random.pick(acts)
        let [sent, outcome] = [1, 'ok']
        try {
          sent = await act(scene)
        } catch (why) {
          outcome = outcomeOf(why)
        }
        messages += sent
        const counts = outcomes[name] ?? {}
        counts[outcome] = (counts[outcome] ?? 0) + 1
        outcomes[name] = counts
        await sampleIfDue()
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    await closeAll()
    samples.push(await under.sample())
    const seconds = (performance.now() - started) / 1000
    await under.restart()
    const restarted = await under.sample()
    return { messages, seconds, outcomes, samples, restarted, trend: trendOf(samples, restarted) }
  } finally {
    await closeAll()
    await under.close()
  }
}

interface Deed {
  readonly name: string
  readonly act: (scene: Scene) => Promise<number>
}

function outcomeOf(why: unknown): string {
  if (why instanceof TransportError) return why.refusal ?? why.code
  if (why instanceof SwarmRefusal) return why.code
  if (why instanceof Error) return why.name
  return String(why)
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      messages: { type: 'string', default: '50000' },
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  })
  const [messages, minutes, seed] = [Number(values.messages), Number(values.minutes), Number(values.seed)]
  if (!(messages >= 1000 && minutes > 0 && Number.isInteger(seed))) {
    throw new Error('--messages takes at least 1000, --minutes more than 0, --seed a whole number')
  }
  const onSample = ({ heapBytes, rssBytes, ...counts }: Sample, done: number): void => {
    const { connections, streams, handles, records } = counts
    console.error(
      `${done} messages: heap ${mib(heapBytes)} MiB, RSS ${mib(rssBytes)} MiB, ${connections} connections, ` +
        `${streams} streams, ${handles} handles, ${records} records`,
    )
  }
  const result = await soak({ messages, minutes, seed, onSample })
  if (values.json) console.log(JSON.stringify(result))
  else show(result)
  process.exitCode = result.trend.zeroVariance ? 0 : 1
}

function show({ messages, seconds, outcomes, samples, restarted, trend }: SoakResult): void {
  console.log(`${messages} messages in ${seconds.toFixed(0)} s`)
  for (const [name, counts] of Object.entries(outcomes)) {
    const stated = Object.entries(counts).map(([outcome, count]) => `${outcome} ${count}`)
    console.log(`  ${name}: ${stated.join(', ')}`)
  }
  const row = (name: string, of: (sample: Sample) => number, unit = ''): void => {
    const values = samples.map(of)
    const [low, high] = [Math.min(...values), Math.max(...values)]
    console.log(`${name.padEnd(12)} ${sparkline(values)} ${low.toFixed(1)} to ${high.toFixed(1)}${unit}`)
  }
  row('heap', ({ heapBytes }) => heapBytes / 2 ** 20, ' MiB')
  row('beyond log', ({ heapBytes, records }) => (heapBytes - trend.bytesPerRecord * records) / 2 ** 20, ' MiB')
  row('RSS', ({ rssBytes }) => rssBytes / 2 ** 20, ' MiB')
  row('connections', ({ connections }) => connections)
  row('streams', ({ streams }) => streams)
  row('handles', ({ handles }) => handles)
  const [first, last] = [samples[0]!, samples.at(-1)!]
  console.log(
    `heap ${mib(first.heapBytes)} MiB at the first sample, ${mib(last.heapBytes)} at the last, ` +
      `${mib(restarted.heapBytes)} after a new start from the same ${restarted.records} records ` +
      `(${trend.bytesPerRecord.toFixed(0)} B each)`,
  )
  console.log(
    `growth of the last half beyond its records: ${(100 * trend.unexplainedGrowth).toFixed(1)} % ` +
      `(flat: below ${100 * FLAT_GROWTH} %): ${trend.zeroVariance ? 'flat' : 'NOT FLAT'}`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
