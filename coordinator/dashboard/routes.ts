import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context, Hono } from 'hono'
import type { Logger } from 'pino'
import type { SealedManifest } from '../../proto/index.js'
import type { Tokenizer } from '../../rollout/engine/index.js'
import type { BlobStore, Clock, Metrics } from '../../swarm/index.js'
import type { LiveReport } from '../report/live-report.js'
import type { RunConfig } from '../settings/config.js'
import type { TaskSet } from '../settings/task-set.js'
import type { TokenCheck, Visitor } from './access.js'
import type { OrderTaker } from './orders.js'

/** Dependencies of the dashboard. */
export interface DashboardParts {
  readonly config: Pick<RunConfig, 'about' | 'base'>
  readonly report: LiveReport
  readonly metrics: Metrics
  readonly taskSet: Pick<TaskSet, 'tasks'>
  readonly tokenizer: Pick<Tokenizer, 'detokenize'>
  /** Bodies of groups. */
  readonly bodies: Pick<BlobStore, 'read'>
  /** Published files. */
  readonly blobs: Pick<BlobStore, 'path' | 'isWhole'>
  /** Returns the manifests in service, the newest round first. */
  readonly manifests: () => readonly SealedManifest[]
  /** Returns the current invitation as text. */
  readonly invitation: () => string
  /** Takes an operator's order. */
  readonly takeOrder: OrderTaker
  /** Whether the run still records events. */
  readonly isSound: () => boolean
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly logger: Logger
}

/** Hono environment of all routes: the middleware of `app.ts` has checked who asks. */
export type Env = { Variables: { visitor: Visitor; token: TokenCheck } }
export type App = Hono<Env>

/** Returns the network address of the client. */
export const clientOf = (context: Context): string => getConnInfo(context).remote.address ?? ''
