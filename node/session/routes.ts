import { z } from 'zod'
import { ControlRefusal, type ControlRoute } from '../../common/control/index.js'
import { changed, type LimitChanges, parseLimits } from '../limits/limits-file.js'
import { type LimitSettings, limitSettings } from '../limits/settings.js'
import { NodeError } from '../report/errors.js'
import { groupOriginSchema, type KeptGroup } from '../store/kept-group.js'
import { readLastGroup, readLedgers } from '../store/records.js'
import type { NodeDatabase } from '../store/store.js'
import type { NodeView } from './view.js'

// Paths of the requests to a running node from other terminals.
export const STATUS = '/status'
export const PAUSE = '/pause'
export const RESUME = '/resume'
export const FINISH = '/finish'
export const LIMITS = '/limits'
export const LEDGERS = '/ledgers'
export const LAST_GROUP = '/last-group'

/** Controls of a running node. */
export interface NodeControls {
  view(): NodeView
  /** Pauses the node, also over restarts. @param forMs  null: until `resume` */
  pause(forMs: number | null, atOnce: boolean): Promise<void>
  resume(): Promise<void>
  finish(): void
  readonly limits: LimitSettings
  /** Changes limits. @throws NodeError, EngineError if the node cannot apply them; the earlier limits then stay in force */
  setLimits(changes: LimitChanges): Promise<LimitsChanged>
}

/** Result of a change of limits. */
export const limitsChanged = z.strictObject({
  limits: limitSettings,
  /** Texts for the owner. */
  notices: z.array(z.string()),
})
export type LimitsChanged = z.output<typeof limitsChanged>

const pauseAsk = z.strictObject({ forMs: z.number().positive().max(1e10).nullable(), atOnce: z.boolean() })
const limitsAsk = z.strictObject({ changes: z.record(z.string(), z.unknown()) })

/** Returns the routes of the control socket. */
export const controlRoutes = (controls: NodeControls, database: NodeDatabase): readonly ControlRoute[] => [
  { method: 'GET', path: STATUS, answer: async () => ({ json: controls.view() }) },
  {
    method: 'POST',
    path: PAUSE,
    async answer({ body }) {
      const { forMs, atOnce } = parse(pauseAsk, body)
      await controls.pause(forMs, atOnce)
      return { json: controls.view() }
    },
  },
  {
    method: 'POST',
    path: RESUME,
    async answer() {
      await controls.resume()
      return { json: controls.view() }
    },
  },
  {
    method: 'POST',
    path: FINISH,
    async answer() {
      controls.finish()
      return { json: controls.view() }
    },
  },
  { method: 'GET', path: LIMITS, answer: async () => ({ json: { limits: controls.limits, notices: [] } }) },
  {
    method: 'POST',
    path: LIMITS,
    async answer({ body }) {
      const changes = parse(limitsAsk, body).changes as LimitChanges
      try {
        parseLimits(changed({}, changes), 'the limits')
        return { json: await controls.setLimits(changes) }
      } catch (cause) {
        if (!(cause instanceof Error)) throw cause
        throw new ControlRefusal('bad_request', cause instanceof NodeError ? cause.detail : cause.message, { cause })
      }
    },
  },
  {
    method: 'GET',
    path: LEDGERS,
    answer: async () => ({ lines: linesFrom(await readLedgers(await database.stores())) }),
  },
  {
    method: 'GET',
    path: LAST_GROUP,
    async answer() {
      const last = await readLastGroup(await database.stores())
      return { lines: linesFrom(last === null ? [] : [{ ...last, group: packed(last.group) }]) }
    },
  },
]

const packed = ({ body, ...group }: KeptGroup): object => ({ ...group, body: Buffer.from(body).toString('base64') })

/** A kept group on the socket. */
export const packedGroup = z
  .strictObject({ bodySha256: z.string(), origin: groupOriginSchema, body: z.base64() })
  .transform(({ body, ...group }): KeptGroup => ({ ...group, body: Buffer.from(body, 'base64') }))

async function* linesFrom(values: readonly unknown[]): AsyncGenerator<string> {
  for (const value of values) yield JSON.stringify(value)
}

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new ControlRefusal('bad_request', parsed.error.issues[0]!.message)
}
