import { randomUUID } from 'node:crypto'
import { createSessionTable } from '../../common/http/index.js'
import type { AssistantMessage, MessageInterpreter } from '../../rollout/episode/index.js'
import type { RewardPreset } from '../../rollout/reward/index.js'
import type { TaskRuntime } from './episode-runtime.js'
import { EpisodeServerError } from './errors.js'
import { EPISODE_SERVER_LIMITS } from './limits.js'
import { type Episode, openEpisode } from './play.js'
import { createRewardReporter, type RewardReport, type RewardSignal } from './reward-signal.js'

/** An open episode with its id. */
export interface OpenEpisode {
  readonly id: string
  readonly episode: Episode
  readonly reward: RewardPreset
  readonly signal: RewardSignal
  /** Reports the reward after the last action. Call it once per action. */
  reportReward(): RewardReport
}

export interface OpenRequest {
  readonly task: Episode['task']
  readonly reward: RewardPreset
  readonly signal: RewardSignal
  readonly actions?: readonly AssistantMessage[]
}

/** Open episodes of a server. Each belongs to the address that opened it. A full server evicts idle episodes. */
export interface Episodes {
  readonly size: number
  /** Opens an episode. @throws EpisodeServerError `too_many_episodes`; EpisodeError `bad_task` */
  open(client: string, request: OpenRequest): Promise<OpenEpisode>
  /** Copies an episode. @throws EpisodeServerError `unknown_episode`, `too_many_episodes` */
  fork(client: string, id: string): Promise<OpenEpisode>
  /** Runs `work` with an episode, one call after another per episode. @throws EpisodeServerError `unknown_episode`; what `work` throws */
  use<T>(id: string, work: (open: OpenEpisode) => Promise<T>): Promise<T>
  has(id: string): boolean
  /** Closes an episode. @throws EpisodeServerError `unknown_episode` */
  close(id: string): void
  /** Closes idle episodes. @returns  their number */
  closeIdle(): number
}

export interface EpisodesOptions {
  readonly maxEpisodes?: number
  readonly maxPerClient?: number
  readonly idleMs?: number
  /** User simulator; default: embedded rules. */
  readonly simulator?: MessageInterpreter
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

interface Entry {
  readonly open: OpenEpisode
  /** Settles when the newest work on the episode is done. */
  last: Promise<unknown>
}

export function createEpisodes(runtime: TaskRuntime, options: EpisodesOptions = {}): Episodes {
  const table = createSessionTable<Entry>(
    {
      maxSessions: options.maxEpisodes ?? EPISODE_SERVER_LIMITS.episodes,
      maxPerClient: options.maxPerClient ?? EPISODE_SERVER_LIMITS.episodesPerClient,
      idleMs: options.idleMs ?? EPISODE_SERVER_LIMITS.idleMs,
      restMs: EPISODE_SERVER_LIMITS.restMs,
      now: options.now ?? (() => performance.now()),
    },
    async () => undefined,
  )
  const { simulator } = options
  const unknown = (id: string): EpisodeServerError =>
    new EpisodeServerError(
      'unknown_episode',
      table.wasEvicted(id)
        ? `episode ${id} was evicted because the server is full; open the task again and replay its actions`
        : `no open episode ${id}; open the task again`,
    )

  const add = async (
    client: string,
    { reward, signal }: Pick<OpenRequest, 'reward' | 'signal'>,
    make: () => Episode | Promise<Episode>,
  ): Promise<OpenEpisode> => {
    const release = table.reserve(client)
    if (!release)
      throw new EpisodeServerError('too_many_episodes', 'the server is full; close an episode or retry later')
    try {
      const episode = await make()
      const open = { id: randomUUID(), episode, reward, signal, reportReward: createRewardReporter(episode, signal) }
      table.add(open.id, client, { open, last: Promise.resolve() })
      return open
    } finally {
      release()
    }
  }

  const use = async <T>(id: string, work: (open: OpenEpisode) => Promise<T>): Promise<T> => {
    const using = table.use(id, true, (entry) => {
      const done = entry.last.then(() => work(entry.open))
      entry.last = done.catch(() => undefined)
      return done
    })
    if (!using) throw unknown(id)
    return using
  }

  return {
    get size() {
      return table.size
    },
    open: (client, request) =>
      add(client, request, () =>
        openEpisode(request.task, { runtime, ...request, ...(simulator ? { simulator } : {}) }),
      ),
    fork: (client, id) => use(id, (open) => add(client, open, () => open.episode.fork())),
    use,
    has: (id) => table.has(id),
    close(id) {
      if (table.remove(id) === undefined) throw unknown(id)
    },
    closeIdle: () => table.closeIdle(),
  }
}
