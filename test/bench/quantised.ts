import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseCalibration } from '../../rollout/verification/thresholds.js'
import { DEMO_CALIBRATION } from '../attackers/calibration.js'
import { openAuditStage } from './audit-stage.js'
import { evidenceOf, HONEST, QUANTISED, type VolunteerEvidence } from './quantised-evidence.js'
import { fatesOf, MOST_GROUPS, separations } from './quantised-verdicts.js'
import type { BenchResult } from './result.js'

/** Groups of each volunteer. More give narrower curves. */
const GROUPS = Number(process.env.PROVE_BENCH_GROUPS ?? 60)
const GROUP_SIZE = 10
const SEED = 3
/** Numbers of tokens of the curves. */
const SIZES = [50, 200, 500, 1000, 2000, 5000, 10_000]

/**
 * Measures how well audits tell volunteers with quantised weights or caches from honest ones: the area under the ROC curve by the number
 * of tokens, of claims and of draws alone, and what the shipped calibration makes of their keys. All groups are made and audited with
 * the demo model.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const signal = AbortSignal.timeout(3 * 3_600_000)
  const calibration = parseCalibration(await readFile(DEMO_CALIBRATION, 'utf8'))
  const stage = await openAuditStage(folder, { tasks: GROUPS, groupSize: GROUP_SIZE, seed: SEED })
  try {
    const honest = await evidenceOf(HONEST, stage, { from: 0, groups: GROUPS, folder }, signal)
    const results: BenchResult[] = [...costs(HONEST.name, honest), ...fates(HONEST.name, honest, ['own'], calibration)]
    for (const [i, volunteer] of QUANTISED.entries()) {
      const from = (i + 1) * 10_000
      const evidence = await evidenceOf(volunteer, stage, { from, groups: GROUPS, folder }, signal)
      results.push(...costs(volunteer.name, evidence), ...curves(volunteer.name, honest, evidence))
      results.push(...fates(volunteer.name, evidence, ['own', 'true'], calibration))
    }
    return { results }
  } finally {
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const tokensIn = ({ groups }: VolunteerEvidence): number =>
  groups.flat().reduce((sum, { tokens }) => sum + tokens.length, 0)

function costs(name: string, evidence: VolunteerEvidence): BenchResult[] {
  const { sampling, scoring } = evidence
  const unit = 'CPU s per 1,000 tokens'
  return [
    { metric: `${name}: tokens`, value: tokensIn(evidence), unit: 'tokens' },
    ...(sampling === null ? [] : [{ metric: `${name}: sampling`, value: sampling, unit }]),
    ...(scoring === null ? [] : [{ metric: `${name}: true claims, by f16`, value: scoring, unit }]),
  ]
}

function curves(name: string, honest: VolunteerEvidence, evidence: VolunteerEvidence): BenchResult[] {
  const most = Math.min(tokensIn(honest), tokensIn(evidence))
  const sizes = SIZES.filter((size) => size <= most / 2)
  return separations(honest, evidence, sizes).flatMap(({ tokens, claims, draws, spotless }) => [
    { metric: `${name}: claims, ${tokens} tokens`, value: claims, unit: 'AUC' },
    { metric: `${name}: draws, ${tokens} tokens`, value: draws, unit: 'AUC' },
    {
      metric: `${name}: no token missed in ${tokens}`,
      value: 100 * spotless.volunteer,
      unit: `% of windows; honest ${(100 * spotless.honest).toFixed(0)} %`,
    },
  ])
}

function fates(
  name: string,
  evidence: VolunteerEvidence,
  claims: readonly ('own' | 'true')[],
  calibration: Parameters<typeof fatesOf>[2],
): BenchResult[] {
  return claims.flatMap((kind) => {
    const { refused, stoppedWithin3, stopped, median, trained } = fatesOf(evidence, kind, calibration)
    const what = `${name}, ${kind} claims`
    return [
      { metric: `${what}: groups refused`, value: 100 * refused, unit: '%' },
      { metric: `${what}: held back within 3 groups`, value: 100 * stoppedWithin3, unit: '% of keys' },
      { metric: `${what}: within ${MOST_GROUPS}`, value: 100 * stopped, unit: '% of keys' },
      ...(median === null ? [] : [{ metric: `${what}: held back at group`, value: median, unit: 'median' }]),
      { metric: `${what}: trained on until then`, value: trained, unit: 'groups, mean' },
    ]
  })
}
