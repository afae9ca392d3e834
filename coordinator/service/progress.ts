import type { Logger } from 'pino'
import type { DirectReach, RefusalEvent } from '../../swarm/index.js'
import type { TrainerEvent } from '../jobs/trainer-events.js'
import type { PublicEvent } from '../ledger/public-event.js'
import type { Alarm } from '../report/alarms.js'
import type { RunConfig } from '../settings/config.js'
import type { DryRunProgress } from './dry-run.js'
import type { NoScore } from './held-out.js'

/** Progress of a coordinator, for the operator or for a program that started it. */
export type Progress =
  | { readonly type: 'listening'; readonly addresses: readonly string[]; readonly runId: string }
  | { readonly type: 'dashboard'; readonly url: string }
  /** The dashboard could not be served; the run continues without it. */
  | { readonly type: 'no-dashboard'; readonly why: string }
  /** The invitation for volunteers, again after every change of the addresses. `reach`: from where they can be dialled. */
  | { readonly type: 'invitation'; readonly invitation: string; readonly file: string; readonly reach: DirectReach }
  | { readonly type: 'event'; readonly event: PublicEvent }
  | { readonly type: 'refusal'; readonly refusal: RefusalEvent }
  | DryRunProgress
  | NoScore
  | { readonly type: 'alarm'; readonly alarm: Alarm }
  /** The coordinator has backed the run up, or could not. */
  | { readonly type: 'backup'; readonly folder: string; readonly events: number }
  | { readonly type: 'no-backup'; readonly why: string }
  | { readonly type: 'trainer'; readonly event: TrainerEvent }
  | { readonly type: 'complete'; readonly version: number }

export interface CoordinatorOptions {
  readonly config: RunConfig
  /** Path of run.yaml, for backups; null: none. */
  readonly configFile?: string | null
  /** Folder of the `prove_trainer` package. */
  readonly trainerFolder: string
  /** Python with the trainer's packages, unless `run.yaml` names one. */
  readonly python: string
  /** Whether the coordinator plays some tasks before the first version. */
  readonly dryRun: boolean
  /** Shows the dashboard to visitors without a token too, even if `dashboard.public` does not allow it. Default: no. */
  readonly publicDashboard?: boolean
  readonly logger: Logger
  readonly onProgress: (progress: Progress) => void
}

/** Resources that steps of a start share: each step registers how to close what it opened. */
export interface StartScope {
  readonly cleanUp: { add(step: () => unknown): void }
  /** Fires when the coordinator closes. */
  readonly signal: AbortSignal
}
