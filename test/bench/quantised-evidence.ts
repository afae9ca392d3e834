import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GeneratedGroup } from '../../lab/calibrate.js'
import type { CacheType, EngineProcess } from '../../rollout/engine/index.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import { trueClaims } from '../attackers/group-cheats.js'
import { type Quantisation, quantisedCopy } from '../attackers/quantised-models.js'
import type { AuditStage } from './audit-stage.js'
import { cpuSeconds } from './cpu-seconds.js'
import { DEMO_MODEL } from './demo-stage.js'

/** What a volunteer computes with, where f16 weights and caches are announced. */
export interface Volunteer {
  readonly name: string
  /** Null: the announced weights. */
  readonly base: Quantisation | null
  readonly cacheType: CacheType
}

export const HONEST: Volunteer = { name: 'f16', base: null, cacheType: 'f16' }
export const QUANTISED: readonly Volunteer[] = [
  { name: 'q8_0 base', base: 'q8_0', cacheType: 'f16' },
  { name: 'q4_K_M base', base: 'q4_k_m', cacheType: 'f16' },
  { name: 'q8_0 cache', base: null, cacheType: 'q8_0' },
]

/** A rollout as its audit sees it. */
export interface AuditedRollout {
  readonly reward: number
  readonly tokens: readonly SampledToken[]
}

/** Groups of one volunteer. */
export interface VolunteerEvidence {
  readonly groups: readonly (readonly AuditedRollout[])[]
  /** CPU seconds of sampling per 1,000 tokens; null without `/proc`. */
  readonly sampling: number | null
  /** CPU seconds per 1,000 tokens of the announced engine that computes true claims for some of the groups. */
  readonly scoring: number | null
}

/** Groups for which the cost of true claims is measured. */
const SCORED = 6

/**
 * Has a volunteer make groups, and audits them under the announced policy. With the environment variable `PROVE_BENCH_TOKENS` the token
 * scores are kept in that folder, and read from there the next time.
 */
export async function evidenceOf(
  volunteer: Volunteer,
  stage: AuditStage,
  { from, groups, folder }: { readonly from: number; readonly groups: number; readonly folder: string },
  signal: AbortSignal,
): Promise<VolunteerEvidence> {
  const kept = process.env.PROVE_BENCH_TOKENS
  const file = kept === undefined ? null : join(kept, `${volunteer.name.replaceAll(' ', '-')}-${groups}.json`)
  if (file !== null && existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as VolunteerEvidence
  const model = volunteer.base === null ? DEMO_MODEL : await quantisedCopy(DEMO_MODEL, folder, volunteer.base)
  const made: GeneratedGroup[] = []
  const sampling = await stage.withEngine(model, volunteer.cacheType, (engine) =>
    cpuPerThousand(engine, async () => {
      for (let i = from; i < from + groups; i++) {
        made.push(await stage.made(i, engine, signal))
        process.stderr.write(`\r${volunteer.name}: ${made.length} of ${groups} groups`)
      }
      return sampledIn(made)
    }),
  )
  const scored = made.slice(0, SCORED)
  const scoring = await stage.withEngine(DEMO_MODEL, 'f16', (engine) =>
    cpuPerThousand(engine, async () => {
      for (const { rollouts } of scored) for (const rollout of rollouts) await trueClaims(engine, rollout, signal)
      return sampledIn(scored)
    }),
  )
  process.stderr.write('\n')
  const { tokens } = await stage.audited(made, null, signal)
  const evidence: VolunteerEvidence = {
    groups: made.map((group, i) => rolloutsOf(group, tokens[i]!)),
    sampling,
    scoring,
  }
  if (file) {
    await mkdir(kept!, { recursive: true })
    await writeFile(file, JSON.stringify(evidence))
  }
  return evidence
}

const sampledIn = (groups: readonly GeneratedGroup[]): number =>
  groups.reduce((sum, { rollouts }) => sum + rollouts.reduce((own, { logprobs }) => own + logprobs.length, 0), 0)

/** Runs work that samples or scores tokens. @returns CPU seconds of the engine per 1,000 of them; null without `/proc` */
async function cpuPerThousand(engine: EngineProcess, work: () => Promise<number>): Promise<number | null> {
  const before = cpuSeconds(engine.pid!)
  const tokens = await work()
  const after = cpuSeconds(engine.pid!)
  return before === null || after === null ? null : (1000 * (after - before)) / tokens
}

function rolloutsOf({ rollouts }: GeneratedGroup, tokens: readonly SampledToken[]): AuditedRollout[] {
  let at = 0
  return rollouts.map(({ logprobs, reward }) => {
    const own = tokens.slice(at, at + logprobs.length)
    at += logprobs.length
    return { reward: reward.total, tokens: own }
  })
}
