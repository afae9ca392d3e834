import { CATALOGUE } from '../support/catalogue.js'
import { emptyMcpCalls, type Peers, pythonPeers } from './env-peers.js'
import { type Metric, measureEnvironment, UNITS } from './env-world.js'
import { median } from './median.js'
import type { BenchResult } from './result.js'

const METRICS = Object.keys(UNITS) as Metric[]
const EMPTY_SERVER = 'SDK server, a tool that does nothing'

/**
 * Measures the environments without any policy, on one thread: generating states, opening, forking and hashing sessions, and calling
 * tools directly and over MCP within the process. Reports the medians over the environments, with one line for each program that does
 * the same work, then those programs, then every environment.
 */
export async function run(): Promise<{ versions: Readonly<Record<string, string>>; results: BenchResult[] }> {
  const { versions, sides } = await pythonPeers()
  const environments = new Map<string, Record<Metric, number>>()
  for (const environment of CATALOGUE.values())
    environments.set(environment.name, await measureEnvironment(environment))
  const empty: Peers['sides'] = { [EMPTY_SERVER]: { mcp_calls_per_s: await emptyMcpCalls() } }
  const peers = Object.entries({ ...sides, ...empty })

  const medians = METRICS.flatMap((metric): BenchResult[] => {
    const value = median([...environments.values()].map((numbers) => numbers[metric]))
    const line = { metric, value, unit: UNITS[metric] }
    const compared = peers.flatMap(([peer, { [metric]: theirs }]) =>
      theirs === undefined ? [] : [{ ...line, peer, ratio: value / theirs }],
    )
    return compared.length > 0 ? compared : [line]
  })
  const each = [...peers, ...environments].flatMap(([name, numbers]) =>
    METRICS.flatMap((metric): BenchResult[] => {
      const value = numbers[metric]
      return value === undefined ? [] : [{ metric: `${name}: ${metric}`, value, unit: UNITS[metric] }]
    }),
  )
  return { versions, results: [...medians, ...each].map(rounded) }
}

/** Rounds to three significant digits. More would be noise. */
function rounded(result: BenchResult): BenchResult {
  const round = (value: number): number => Number(value.toPrecision(3))
  const { value, ratio } = result
  return { ...result, value: round(value), ...(ratio === undefined ? {} : { ratio: round(ratio) }) }
}
