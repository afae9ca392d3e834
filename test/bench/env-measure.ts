import { Bench, type FnOptions } from 'tinybench'
import type { SeedState } from '../../servers/kernel/index.js'
import { Session, seededRandom } from '../../servers/kernel/index.js'

/** Number of calls of one scripted conversation. */
export const CALLS = 20

export interface Call {
  readonly name: string
  readonly args: Record<string, unknown>
}

/**
 * Returns successful calls of all tools in turn, each with arguments sampled from the state after the calls before it. The last call
 * writes, so that a hash after it has to read new data.
 */
export function conversation(seedState: SeedState): Call[] {
  const { environment } = seedState
  const random = seededRandom(1)
  const session = Session.open(seedState)
  const calls: Call[] = []
  for (let turn = 0; calls.length < CALLS; turn++) {
    if (turn > 100 * CALLS) throw new Error(`${environment.name} offers too few calls that succeed`)
    const tool = environment.tools[turn % environment.tools.length]!
    if (calls.length === CALLS - 1 && tool.annotations.readOnly) continue
    const args = session.sampleArguments(tool, random, {})
    if (args && session.call(tool.name, args).ok) calls.push({ name: tool.name, args })
  }
  return calls
}

export function play(session: Session, calls: readonly Call[]): void {
  for (const { name, args } of calls) {
    const result = session.call(name, args)
    if (!result.ok) throw new Error(`${name}: ${result.message}`)
  }
}

export interface Measurement extends FnOptions {
  /** Number of runs before the first that counts, so that the measured code is compiled, also on a busy machine. */
  readonly warmup: number
}

/**
 * Returns microseconds per operation: the median over many runs of `run`, which does `operations` operations. The median ignores runs
 * that another process interrupted.
 */
export async function microseconds(operations: number, run: () => unknown, measurement: Measurement): Promise<number> {
  const { warmup, ...hooks } = measurement
  const bench = new Bench({
    time: 250,
    iterations: 8,
    warmupTime: 0,
    warmupIterations: warmup,
    retainSamples: true,
    throws: true,
  })
  const [task] = await bench.add('run', run, hooks).run()
  if (task?.result.state !== 'completed') throw new Error('the measurement did not complete')
  return (1000 * task.result.latency.p50) / operations
}
