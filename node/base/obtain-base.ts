import { type Invitation, InvitationError } from '../../proto/index.js'
import { type Clock, type SnapshotExchange, TransportError } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import { agreementsIn, type JoinPlan } from '../report/join-plan.js'
import type { NodeProgress } from '../report/progress.js'
import { checkSpace, fetchBaseModel, spaceFor } from './fetch-base.js'
import { type BaseModel, checkGivenModel, findBaseModel } from './find-base.js'
import { openModelCache } from './model-cache.js'
import { webSource } from './web-source.js'

export interface ObtainBaseParts {
  readonly dataDir: string
  readonly coordinator: string
  /** Null: the node asks the coordinator. */
  readonly invitation: Invitation | null
  /** The model that the user gives; null: the node finds or fetches it. */
  readonly given: BaseModel | null
  /** Path of the model in this package. */
  readonly packaged: string
  readonly snapshots: SnapshotExchange
  /** Resolves when the coordinator is connected. */
  readonly connected: (signal: AbortSignal) => Promise<void>
  /** Runs the download while the node is not paused. */
  readonly onDuty: (download: (signal: AbortSignal) => Promise<BaseModel>, signal: AbortSignal) => Promise<BaseModel>
  /** Peers that may have the model, the coordinator included. */
  readonly peers: () => readonly string[]
  readonly clock: Pick<Clock, 'sleep'>
  /** Asks the user once per run, before anything is fetched. */
  readonly agree: (plan: JoinPlan, signal: AbortSignal) => Promise<boolean>
  readonly onProgress: (progress: NodeProgress) => void
}

const RETRY_MS = 5_000

/**
 * Returns the run's base model on this disk: given by the user, part of this package, fetched earlier, or downloaded now.
 * @throws NodeError `wrong_base`, `other_version`, `no_space`, `declined`, `unwritable`; InvitationError; what `onDuty` throws; the signal's reason
 */
export async function obtainBaseModel(parts: ObtainBaseParts, signal: AbortSignal): Promise<BaseModel> {
  const { dataDir, given, packaged, agree, onProgress } = parts
  // The update of the policy checks the model.
  if (given && !parts.invitation) return given
  const invitation = parts.invitation ?? (await askForInvitation(parts, signal))
  const { runId, operator, purpose, base } = invitation
  const cache = await openModelCache(dataDir)
  if (given) checkGivenModel(given, base)
  const found = given
    ? { ...given, from: 'given' as const }
    : await findBaseModel(base.sha256, { packaged, cache }, signal)
  const space = found ? null : await spaceFor(base, cache)
  const plan: JoinPlan = { runId, operator, purpose, base, from: found?.from ?? 'download', space }
  onProgress({ type: 'invited', plan })
  if (space) checkSpace(space, base, cache)
  const agreements = agreementsIn(dataDir)
  if (!(await agreements.has(plan))) {
    if (!(await agree(plan, signal)))
      throw new NodeError('declined', 'you did not join the run, and nothing was fetched')
    await agreements.add(plan)
  }
  if (found) {
    if (found.from === 'cache') await cache.use(base.sha256, base.name)
    return found
  }
  const others = base.sources.map((url) => webSource(url, { sizeBytes: base.sizeBytes }))
  return parts.onDuty((within) => fetchBaseModel(base, { ...parts, cache, others }, within), signal)
}

/** Asks the coordinator for the invitation, which must be signed by the run's key in the address. */
async function askForInvitation(
  { coordinator, snapshots, connected, clock, onProgress }: ObtainBaseParts,
  signal: AbortSignal,
): Promise<Invitation> {
  for (;;) {
    await connected(signal)
    try {
      return await snapshots.fetchInvitation([coordinator], signal)
    } catch (error) {
      if (!(error instanceof TransportError)) throw error
      if (error.cause instanceof InvitationError) throw error.cause
      if (error.code === 'other_version') throw new NodeError('other_version', error.detail, { cause: error })
      onProgress({ type: 'base-delayed', detail: error.message })
      await clock.sleep(RETRY_MS, signal)
    }
  }
}
