import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { auditGroups } from '../../coordinator/intake/audit-run.js'
import { createAuditProcess } from '../../coordinator/jobs/audit-process.js'
import { writeBatch, writeFindings } from '../../coordinator/jobs/batch-folder.js'
import { createTrainerProcess } from '../../coordinator/jobs/trainer-process.js'
import { honestGroup } from '../../lab/calibrate.js'
import { openEngine } from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS, type Rollout } from '../../rollout/episode/index.js'
import { type AuditedGroup, drawsOf } from '../../rollout/verification/index.js'
import { DEMO_MODEL, type DemoRuntime, PYTHON, TRAINER_FOLDER } from './demo-stage.js'
import { GROUP_SIZE } from './judge-groups.js'
import type { BenchResult } from './result.js'

/** Number of groups in a batch of the demo. */
const GROUPS = 12
const ROUNDS = 3
const TIMEOUT_MS = 20 * 60_000

/**
 * Measures a full audit of a batch's groups compared with the training step on the same groups, and a training step that audits the
 * groups itself. Uses the coordinator's processes with one thread each, one after the other.
 */
export async function measureAudit({ runtime, tasks, baseSha256 }: DemoRuntime): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const log = pino({ level: 'error' }, pino.destination(2))
  const jobs = join(folder, 'jobs')
  const config = join(folder, 'trainer.json')
  await mkdir(join(jobs, 'batches'), { recursive: true })
  const canaries = [{ prompt: [1, 2, 3], continuation: [4, 5] }]
  // A learning rate of zero keeps the policy that sampled the groups.
  const optimizer = { lr: 0 }
  const settings = { schema: 1, baseSha256, threads: 1, baseModel: { name: 'demo' }, canaries, optimizer }
  await writeFile(config, JSON.stringify(settings))
  const files = { python: PYTHON, packageFolder: TRAINER_FOLDER, jobs, base: DEMO_MODEL, config }
  const auditor = createAuditProcess({ ...files, maxFailures: 2, timeoutMs: TIMEOUT_MS }, log)
  const trainer = createTrainerProcess(
    { ...files, processes: 1, logFile: join(folder, 'trainer.log'), maxFailures: 2, onEvent: () => {} },
    log,
  )
  const limits = DEFAULT_LIMITS
  const desk = { process: auditor, jobs, baseSha256, reader: runtime, limits }
  const engine = await openEngine({
    ...{ modelPath: DEMO_MODEL, threads: 1, contextSize: limits.maxRolloutTokens, slots: GROUP_SIZE, gpu: false },
  })
  try {
    await engine.usePolicy(null, signal)
    const groups: AuditedGroup[] = []
    for (let i = 0; i < GROUPS; i++) {
      groups.push(
        await honestGroup(i, { tasks, engine, runtime, service: desk }, { groupSize: GROUP_SIZE, seed: 1 }, signal),
      )
    }
    await engine.close()
    await trainer.start(signal)
    let step = 0
    /** Trains on the groups, all of one version, with or without their noise. @returns milliseconds */
    const train = (version: number, draws: boolean): Promise<number> => {
      step += 1
      const batchId = `step-${step}`
      const trained = groups.map(({ leaseId, leaseSeed, rollouts }) => ({
        ...{ leaseId: `${leaseId}-${step}`, supplier: 'node', policyVersion: version, sampler: 'cpu' },
        rollouts: (rollouts as readonly Rollout[]).map(({ reward, ...rollout }) => ({
          ...rollout,
          reward: reward.total,
        })),
        draws: draws ? rollouts.map((rollout, i) => drawsOf(rollout, leaseSeed, i, limits)) : null,
      }))
      const content = { batchId, roundId: `round-${step}`, baseSha256, parentStep: step - 1, groups: trained }
      return timed(async () => {
        await writeBatch(jobs, content)
        let outcome = await trainer.outcome(batchId, signal)
        if (outcome.kind === 'measured') {
          await writeFindings(jobs, batchId, [])
          outcome = await trainer.outcome(batchId, signal)
        }
        if (outcome.kind !== 'trained') throw new Error(`the trainer ended with ${JSON.stringify(outcome)}`)
      })
    }
    const best = { audit: [] as number[], plain: [] as number[], fresh: [] as number[], stale: [] as number[] }
    for (let round = 0; round <= ROUNDS; round++) {
      // Another name makes a new job of the same groups.
      const named = groups.map((group) => ({ ...group, leaseId: `${group.leaseId}-${round}` }))
      const [audit, plain] = [await timed(() => auditGroups(desk, null, named, signal)), await train(step, false)]
      const [fresh, stale] = [await train(step, true), await train(step - 1, true)]
      // The first round includes the start of the processes.
      if (round > 0)
        for (const [name, ms] of Object.entries({ audit, plain, fresh, stale }))
          best[name as keyof typeof best].push(ms)
    }
    const [audit, plain, fresh, stale] = [best.audit, best.plain, best.fresh, best.stale].map((all) =>
      Math.min(...all),
    ) as [number, number, number, number]
    const tokens = groups.reduce((sum, { rollouts }) => sum + rollouts.reduce((all, r) => all + r.tokens.length, 0), 0)
    const share = (ms: number): number => (100 * ms) / plain
    return [
      { metric: `audit of ${GROUPS} groups of ${GROUP_SIZE}, ${tokens} tokens`, value: audit / 1000, unit: 's' },
      { metric: 'training step on the same groups', value: plain / 1000, unit: 's' },
      { metric: 'audit of every group, as a share of the step', value: share(audit), unit: '%' },
      { metric: 'audit of every tenth group, as a share of the step', value: share(audit) / 10, unit: '%' },
      { metric: 'audit by the training forward, over the step', value: share(fresh) - 100, unit: '%' },
      { metric: 'the same for groups of an older version', value: share(stale) - 100, unit: '%' },
    ]
  } finally {
    await engine.close()
    await auditor.close()
    await trainer.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
