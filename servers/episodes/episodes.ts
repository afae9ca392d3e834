import { randomUUID } from 'node:crypto'
import { createSessionTable } from '../../common/http/index.js'
import type { MessageInterpreter } from '../../rollout/episode/index.js'
import type { RewardPreset } from '../../rollout/reward/index.js'
import type { TaskRuntime } from './episode-runtime.js'
import { EpisodeServerError } from './errors.js'
import { EPISODE_SERVER_LIMITS } from './limits.js'
import { type Action, type Episode, openEpisode } from './play.js'
import { createTelling, type Delivered, type RewardSignal } from './reward-signal.js'

/** An episode that is open under a name. */
export interface OpenEpisode {
  readonly id: string
  readonly episode: Episode
  readonly reward: RewardPreset
  readonly signal: RewardSignal
  /** What the signal tells after the last action. */
  tell(): Delivered
}

export interface OpenRequest {
  readonly task: Episode['task']
  readonly reward: RewardPreset
  readonly signal: RewardSignal
  readonly actions?: readonly Action[]
}

/** The open episodes of a server: each belongs to the address that opened it, and gives way after resting for long. */
export interface Episodes {
  readonly size: number
  /** @throws EnvironmentError `too_many_episodes`; EpisodeError `bad_task` */
  open(client: string, request: OpenRequest): Promise<OpenEpisode>
  /** @throws EnvironmentError `unknown_episode`, `too_many_episodes` */
  fork(client: string, id: string): Promise<OpenEpisode>
  /** One after another for each episode. @throws EnvironmentError `unknown_episode`; what `work` throws */
  use<T>(id: string, work: (open: OpenEpisode) => Promise<T>): Promise<T>
  has(id: string): boolean
  /** @throws EnvironmentError `unknown_episode` */
  close(id: string): void
  closeIdle(): number
}

export interface EpisodesOptions {
  readonly maxEpisodes?: number
  readonly maxPerClient?: number
  readonly idleMs?: number
  /** Hears what users are asked, in place of the rules. */
  readonly listener?: MessageInterpreter
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number
}

interface Entry {
  readonly open: OpenEpisode
  /** Ends when what was asked of it last is done. */
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
  const { listener } = options
  const unknown = (id: string): EpisodeServerError =>
    new EpisodeServerError(
      'unknown_episode',
      table.wasEvicted(id)
        ? `${id} rested while others needed its room; open its task again with its actions`
        : `${id} is not open here`,
    )

  const add = async (
    client: string,
    { reward, signal }: Pick<OpenRequest, 'reward' | 'signal'>,
    make: () => Episode | Promise<Episode>,
  ): Promise<OpenEpisode> => {
    const release = table.reserve(client)
    if (!release) throw new EpisodeServerError('too_many_episodes', 'close one, or try again later')
    try {
      const episode = await make()
      const open = { id: randomUUID(), episode, reward, signal, tell: createTelling(episode, signal) }
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
      add(client, request, () => openEpisode(request.task, { runtime, ...request, ...(listener ? { listener } : {}) })),
    fork: (client, id) => use(id, (open) => add(client, open, () => open.episode.fork())),
    use,
    has: (id) => table.has(id),
    close(id) {
      if (table.remove(id) === undefined) throw unknown(id)
    },
    closeIdle: () => table.closeIdle(),
  }
}
