import { z } from 'zod'
import { ControlRefusal, type ControlRoute } from '../../control/index.js'
import type { Metrics } from '../../swarm/index.js'
import type { ChainedLog } from '../ledger/event-log.js'

/** How a command asks for the log of a running coordinator: LevelDB lets only one process at its files. */
export const LOG_END = '/log/end'
export const LOG_RECORDS = '/log/records'
export const METRICS = '/metrics'

const range = z.object({ until: z.coerce.number().int().min(0) })

/** What the operator's commands can ask of a running coordinator. */
export const controlRoutes = (log: ChainedLog, metrics: Metrics): readonly ControlRoute[] => [
  { method: 'GET', path: LOG_END, answer: async () => ({ json: log.end }) },
  {
    method: 'GET',
    path: LOG_RECORDS,
    async answer({ query }) {
      const { data } = range.safeParse(query)
      if (!data || data.until > log.end.count)
        throw new ControlRefusal('bad_request', `until is a number of events, at most ${log.end.count}`)
      return { lines: log.records(data.until) }
    },
  },
  { method: 'GET', path: METRICS, answer: async () => ({ lines: textLines(await metrics.metrics()) }) },
]

async function* textLines(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n')
}
