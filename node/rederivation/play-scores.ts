import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { CACHE_TYPES, openEngine } from '../../rollout/engine/index.js'
import {
  EpisodeError,
  type EpisodeRuntime,
  estimate,
  evaluatePolicy,
  type HeldOutSet,
  hasCapacity,
  parseHeldOut,
} from '../../rollout/episode/index.js'
import { type HeldOutScore, openVersion, type PublishedVersion } from './published-version.js'
import { DoesNotFollow } from './verdict.js'

/** A published held-out score next to the score that this machine has measured. */
export interface PlayedScore {
  readonly version: number
  readonly claimed: HeldOutScore['reward']
  readonly played: HeldOutScore['reward']
  readonly tasks: number
  /** Why both scores are of the same policy, or not. */
  readonly agrees: 'equal' | 'within noise' | 'no'
}

export interface PlayParts {
  readonly run: string
  readonly pull: (version: number, signal: AbortSignal) => Promise<string>
  readonly runtimeOf: (rules: { readonly toolCallFormat: string; readonly reward: string }) => EpisodeRuntime
  /** Path of the base model. */
  readonly base: string
  readonly threads: number
  readonly gpu: 'auto' | false
}

/**
 * Largest difference of two means in standard errors of the claim. The same seeds give nearly the same rollouts on another processor, so
 * two honest scores are closer than two independent ones.
 */
const MOST_ERRORS = 3

/**
 * Plays the held-out tasks again under each version whose score the newest version names.
 * @param newest  a version whose provenance names scores
 * @throws DoesNotFollow `publication` without scores, or if a version has another adapter than the scored one
 */
export async function playScores(newest: number, parts: PlayParts, signal: AbortSignal): Promise<PlayedScore[]> {
  const published = await openVersion(await parts.pull(newest, signal), parts.run, signal)
  const claims = published.provenance.heldOut
  if (claims.length === 0 || !published.files.has('held-out.json'))
    throw new DoesNotFollow('publication', `version ${newest} names no held-out scores with their tasks`)
  const played: PlayedScore[] = []
  for (const claim of claims) played.push(await playScore(claim, parts, signal))
  return played
}

async function playScore(claim: HeldOutScore, parts: PlayParts, signal: AbortSignal): Promise<PlayedScore> {
  const version = await openVersion(await parts.pull(claim.version, signal), parts.run, signal)
  if (version.sealed.manifest.policy.adapter?.sha256 !== claim.adapterSha256)
    throw new DoesNotFollow('publication', `the score of version ${claim.version} is of another adapter`)
  const set = await readSet(version)
  const runtime = parts.runtimeOf(set)
  const { settings } = set
  const tasks = set.tasks.filter((task) => hasCapacity(task, runtime, settings.limits))
  const { rank, alpha, targetModules, sha256 } = version.sealed.manifest.policy.adapter
  const adapter = { path: join(version.folder, 'adapter.gguf'), sha256, shape: { rank, alpha, targetModules } }
  const slots = Math.min(settings.slots, tasks.length)
  const cacheType = CACHE_TYPES.find((type) => type === set.cacheType)
  if (tasks.length < 2 || cacheType === undefined)
    throw new DoesNotFollow('publication', `version ${claim.version} cannot be scored with its own settings`)
  const engine = await openEngine({
    ...{ modelPath: parts.base, threads: parts.threads, gpu: parts.gpu, slots, cacheType },
    contextSize: settings.limits.maxRolloutTokens,
  })
  try {
    const results = await evaluatePolicy(tasks, adapter, [engine], runtime, { ...settings, slots }, signal)
    const own = estimate(results.map(({ reward }) => reward))
    return {
      version: claim.version,
      claimed: claim.reward,
      played: own,
      tasks: tasks.length,
      agrees: verdictOn(claim, own),
    }
  } finally {
    await engine.close()
  }
}

function verdictOn({ reward: claimed }: HeldOutScore, played: HeldOutScore['reward']): PlayedScore['agrees'] {
  if (claimed.mean === played.mean) return 'equal'
  return Math.abs(claimed.mean - played.mean) <= MOST_ERRORS * Math.max(claimed.stderr, played.stderr)
    ? 'within noise'
    : 'no'
}

async function readSet({ folder, sealed }: PublishedVersion): Promise<HeldOutSet> {
  const { version } = sealed.manifest
  try {
    return parseHeldOut(await readFile(join(folder, 'held-out.json'), 'utf8'))
  } catch (why) {
    if (!(why instanceof z.ZodError || why instanceof SyntaxError || why instanceof EpisodeError)) throw why
    throw new DoesNotFollow(
      'publication',
      `the held-out tasks of version ${version} are unreadable: ${why.message.slice(0, 200)}`,
    )
  }
}
