import { ControlRefusal } from '../../common/control/index.js'
import type { DashboardParts } from '../../coordinator/dashboard/routes.js'
import { type Dashboard, serveDashboard } from '../../coordinator/dashboard/server.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { meterRun } from '../../coordinator/ledger/metrics.js'
import { openRecorder, type Recorder } from '../../coordinator/ledger/recorder.js'
import { followRun, LiveReport } from '../../coordinator/report/live-report.js'
import { meterReport } from '../../coordinator/report/metrics.js'
import { groupBody, sha256 } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import { createMetrics, createStderrLogger, systemClock } from '../../swarm/index.js'
import { memoryLog } from './memory-log.js'
import { smallRun } from './run-config.js'
import {
  agreed,
  audited,
  batched,
  batchRefused,
  judged,
  leased,
  published,
  released,
  scored,
  trained,
} from './run-events.js'
import { bodyOf, groundTruthScript, lendingTask, play, runtimeOf, scriptTokenizer } from './scripted.js'

/** Event logs of runs, and the dashboard of one of them. */

export const KEYS = [
  '12D3KooWAnnoanBook5vB7uGkQ3rj1YcVt9nUsW2pLxFhZdTeRmAnn1',
  '12D3KooWBenoanBook5vB7uGkQ3rj1YcVt9nUsW2pLxFhZdTeRmBen2',
  '12D3KooWCleoanBook5vB7uGkQ3rj1YcVt9nUsW2pLxFhZdTeRmCle3',
  '12D3KooWDoraanBook5vB7uGkQ3rj1YcVt9nUsW2pLxFhZdTeRmDor4',
] as const
/** A secret that no page may show. */
export const SECRET = 'c0ffee'.padEnd(64, '5')
const MINUTE = 60_000

export const TASKS: readonly Task[] = [
  'Please lend emma to Ada.',
  'Could Ada have <b>emma</b> & "co"?',
  'Ada wants to read emma.',
].map((wish) => lendingTask({ turns: [wish, 'Now take that loan back.'] }))

const tokenizer = scriptTokenizer()
const runtime = runtimeOf([(await import('./library-environment.js')).library], tokenizer)
const rollouts = await Promise.all([
  play(TASKS[1]!, groundTruthScript(TASKS[1]!), runtime),
  play(TASKS[1]!, ['No, I would <script>alert(1)</script> rather not.', 'No.'], runtime),
])
/** The body of one group, whose rollouts the dashboard can show. */
export const BODY = groupBody.encode({ ...bodyOf(TASKS[1]!, rollouts), leaseId: 'ab'.repeat(16) })
export const READABLE = 'readable'.padEnd(32, '0')

const noise = (i: number): number => ((i * 7919) % 100) / 100 - 0.5

export type Kind = 'empty' | 'busy' | 'finished' | 'failing'

/** Returns the events of a run. @param beganMs  time of the first event */
export function runOf(kind: Kind, beganMs: number): RunEvent[] {
  const goal = kind === 'finished' ? 24 : 60
  const log: RunEvent[] = [{ ...agreed({ groupSize: 4, versions: goal }), atMs: beganMs }]
  if (kind === 'empty') return log
  let atMs = beganMs
  const put = (event: RunEvent): void => {
    atMs += 2_000
    log.push({ ...event, atMs })
  }
  const last = kind === 'failing' ? 9 : 24
  put(published(0, { roundSecret: SECRET }))
  for (const node of KEYS) put({ type: 'registered', atMs, node, round: 0 })
  for (let version = 0; version <= last; version++) {
    const ids: string[] = []
    for (let i = 0; i < 6; i++) {
      const leaseId = version === last && i === 0 ? READABLE : `${version}f${i}`.padEnd(32, 'e')
      const node = KEYS[i % (version < 5 ? 2 : KEYS.length)]!
      put(leased(leaseId, node, version, { taskIndex: (version + i) % TASKS.length, backend: i % 2 ? 'cuda' : 'cpu' }))
      if (i === 5 && version % 3 === 0) {
        put(released(leaseId))
        continue
      }
      atMs += (MINUTE * (1 + (i % 3))) / 4
      put(judged(leaseId, node, version, outcome(kind, version, i)))
      if (i < 2 && kind !== 'failing') ids.push(leaseId)
    }
    if (version === 7)
      put(audited('7f1'.padEnd(32, 'e'), KEYS[1], kind === 'failing' ? 'sampler_mismatch' : null, atMs))
    if (kind !== 'failing' && version % 8 === 0) put(scored(version))
    if (version === last) break
    const batchId = `batch-${version + 1}`
    put(batched(batchId, version + 1, ids))
    if (kind === 'failing' && version === 3) put(batchRefused(batchId))
    put(published(version + 1, { roundSecret: SECRET, adapterSha256: (version + 1).toString(16).padStart(64, 'a') }))
    const isSkipped = kind === 'failing' && version > 4
    const stats = {
      ...{ loss: 0.4 / (version + 1) + noise(version) / 20, mismatchKl: 0.002 + Math.abs(noise(version)) / 400 },
      ...{
        gradNorm: 1.5 + noise(version),
        entropy: 1.2 - version / 60,
        ess: 0.93,
        trainedRollouts: 8,
        lossTokens: 2345,
      },
    }
    put({ ...trained(batchId, version + 1), skipped: isSkipped, ...(isSkipped ? { reason: 'not_finite' } : {}), stats })
  }
  if (kind === 'failing')
    put({ type: 'environment-quarantined', atMs, environment: 'library', leaseId: '9f1'.padEnd(32, 'e') })
  return log
}

function outcome(kind: Kind, version: number, i: number): Parameters<typeof judged>[3] {
  if (kind === 'failing' && i % 2 === 0)
    return {
      accepted: false,
      code: i === 0 ? 'reward_mismatch' : 'logprob_mismatch',
      detail: 'rollout 1: 0.8 was claimed, 0.3 is right',
      credit: 0,
      rewards: [],
      solved: 0,
      calls: 0,
      sampledTokens: 0,
      audit: i === 2 ? 'failed' : 'none',
    }
  if (i === 4 && version % 4 === 1)
    return {
      accepted: false,
      code: 'stale_policy',
      detail: 'version 0 is gone',
      credit: 0,
      rewards: [],
      solved: 0,
      calls: 0,
      sampledTokens: 0,
    }
  const skill = kind === 'failing' ? 0 : Math.min(1.2, 0.3 + version / 30 + noise(version * 7 + i) / 10)
  const isZeroVariance = kind === 'failing' || i === 3
  const rewards = isZeroVariance ? [skill, skill, skill, skill] : [skill, skill + 0.1, Math.max(0, skill - 0.2), skill]
  return {
    ...{
      rewards,
      zeroVariance: isZeroVariance,
      credit: 10 + i,
      sampledTokens: 400 + 10 * i,
      calls: 9 + (version % 3),
      audit: i === 0 ? 'passed' : 'none',
    },
    bodySha256: i === 0 ? sha256(BODY) : 'f'.repeat(64),
    completions: ['0'.repeat(16), '1'.repeat(16), '2'.repeat(16), '3'.repeat(16)],
    solved: kind === 'failing' ? 0 : Math.min(4, Math.floor(version / 6)),
    rewardParts: {
      validity: Math.min(1, 0.6 + version / 60),
      coverage: skill / 1.3,
      efficiency: -0.1,
      name: Math.min(1, skill),
      arg: skill / 2,
    },
  }
}

export interface ShownRun {
  readonly dashboard: Dashboard
  readonly recorder: Recorder
  readonly report: LiveReport
  close(): Promise<void>
}

/** Serves the dashboard of a log on the loopback interface. @param settings  fields of `dashboard` in run.yaml */
export async function showRun(
  events: readonly RunEvent[],
  settings: object = {},
  change: Partial<DashboardParts> = {},
): Promise<ShownRun> {
  const log = memoryLog([...events])
  const recorder = await openRecorder(log, () => undefined)
  const metrics = createMetrics()
  meterRun(metrics, recorder)
  const report = new LiveReport()
  meterReport(metrics, report)
  const closing = new AbortController()
  await followRun(report, { log, recorder, count: events.length }, closing.signal)
  const base = smallRun({})
  const config = {
    ...base,
    about: { operator: 'Ada Lovelace', purpose: 'A small model that lends books' },
    dashboard: { ...base.dashboard, listen: '127.0.0.1:0', ...settings },
  }
  const dashboard = await serveDashboard(config.dashboard, {
    ...{ config, report, metrics, tokenizer, taskSet: { tasks: TASKS } },
    bodies: { read: async (hash) => (hash === sha256(BODY) ? BODY : null) },
    blobs: { path: (hash) => hash, isWhole: async () => false },
    manifests: () => [],
    invitation: () => `prove:${'abcdef'.repeat(40)}`,
    isSound: () => true,
    takeOrder: () => Promise.reject(new ControlRefusal('bad_request', 'this run takes no orders')),
    clock: systemClock,
    logger: createStderrLogger('error'),
    ...change,
  })
  return {
    ...{ dashboard, recorder, report },
    async close() {
      closing.abort(new Error('the test is over'))
      await dashboard.close()
      await recorder.close()
    },
  }
}
