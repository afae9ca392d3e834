import { type Invitation, InvitationError } from '../../proto/index.js'
import { type Clock, type SnapshotExchange, TransportError } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import { agreementsIn, type JoinPlan } from '../report/join-plan.js'
import type { NodeProgress } from '../report/progress.js'
import { capacityFor, checkCapacity, fetchBaseModel } from './fetch-base.js'
import { type BaseModel, checkGivenModel, findBaseModel } from './find-base.js'
import { openModelCache } from './model-cache.js'
import { webSource } from './web-source.js'

export interface ObtainBaseParts {
  readonly dataDir: string
  readonly coordinator: string
  /** Null: the coordinator is asked for it. */
  readonly invitation: Invitation | null
  /** The model that the user names; null: the right one is found or fetched. */
  readonly given: BaseModel | null
  /** Path of the model that comes with this program. */
  readonly packaged: string
  readonly snapshots: SnapshotExchange
  /** Resolves when the coordinator is connected. */
  readonly connected: (signal: AbortSignal) => Promise<void>
  /** Does the download, as far as the node is not to rest. */
  readonly onDuty: (download: (signal: AbortSignal) => Promise<BaseModel>, signal: AbortSignal) => Promise<BaseModel>
  /** Who may have the model, the coordinator among them. */
  readonly peers: () => readonly string[]
  readonly clock: Pick<Clock, 'sleep'>
  /** Asked once per run, before anything is fetched: whether the user wants it. */
  readonly agree: (plan: JoinPlan, signal: AbortSignal) => Promise<boolean>
  readonly onProgress: (progress: NodeProgress) => void
}

const RETRY_MS = 5_000

/**
 * The run's base model on this disk: the one that the user gave, that came with the program or was fetched before, or else a download.
 * @throws NodeError `wrong_base`, `other_version`, `no_room`, `declined`, `unwritable`; InvitationError; what `onDuty` throws; the signal's reason
 */
export async function obtainBaseModel(parts: ObtainBaseParts, signal: AbortSignal): Promise<BaseModel> {
  const { dataDir, given, packaged, agree, onProgress } = parts
  // Whether it is the right one turns out when the policy is taken up.
  if (given && !parts.invitation) return given
  const invitation = parts.invitation ?? (await askForInvitation(parts, signal))
  const { runId, operator, purpose, base } = invitation
  const cache = await openModelCache(dataDir)
  if (given) checkGivenModel(given, base)
  const found = given
    ? { ...given, from: 'given' as const }
    : await findBaseModel(base.sha256, { packaged, cache }, signal)
  const capacity = found ? null : await capacityFor(base, cache)
  const plan: JoinPlan = { runId, operator, purpose, base, from: found?.from ?? 'download', capacity }
  onProgress({ type: 'invited', plan })
  if (capacity) checkCapacity(capacity, base, cache)
  const agreements = agreementsIn(dataDir)
  if (!(await agreements.has(plan))) {
    if (!(await agree(plan, signal))) throw new NodeError('declined', 'nothing was fetched')
    await agreements.add(plan)
  }
  if (found) {
    if (found.from === 'cache') await cache.use(base.sha256, base.name)
    return found
  }
  const others = base.sources.map((url) => webSource(url, { sizeBytes: base.sizeBytes }))
  return parts.onDuty((within) => fetchBaseModel(base, { ...parts, cache, others }, within), signal)
}

/** For whoever has only an address: the run's key in it is what the invitation must be signed by. */
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
