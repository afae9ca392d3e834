import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair } from '@libp2p/crypto/keys'
import pino from 'pino'
import type { Progress } from '../../coordinator/service/progress.js'
import { startCoordinator } from '../../coordinator/service/start-coordinator.js'
import { configSchema } from '../../coordinator/settings/config.js'
import type { Lease } from '../../proto/index.js'
import { calibratedName, openEngine } from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS, parseTask, runGroup } from '../../rollout/episode/index.js'
import { quantile } from '../../rollout/verification/index.js'
import { channelsOf, createHost, requestLeases } from '../../swarm/index.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { DEMO_CALIBRATION, DEMO_MODEL, type DemoRuntime, PYTHON, TRAINER_FOLDER } from './demo-stage.js'
import { GROUP_SIZE, seal } from './judge-groups.js'
import type { BenchResult } from './result.js'

const GROUPS = Number(process.env.PROVE_BENCH_GROUPS ?? 100)
const PATIENCE_MS = 60_000

/**
 * Measures milliseconds from an announcement with its body to the verdict in the log, without audits and with an audit of every group.
 * Uses a coordinator that its command has started, and a volunteer on the loopback interface whose groups the real engine samples.
 */
export async function measureLatency(demo: DemoRuntime): Promise<BenchResult[]> {
  return [...(await measureRun(demo, [], 'no audit')), ...(await measureRun(demo, [DEMO_CALIBRATION], 'all audited'))]
}

async function measureRun(
  { runtime }: DemoRuntime,
  calibrations: readonly string[],
  label: string,
): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const signal = AbortSignal.timeout(40 * 60_000)
  await writeDemoTasks(join(folder, 'tasks'), 100, 1)
  const verdicts = new Map<string, { readonly accepted: boolean; readonly at: number }>()
  const watchers = new Set<() => void>()
  const onProgress = (progress: Progress): void => {
    if (progress.type !== 'event' || progress.event.type !== 'judged') return
    verdicts.set(progress.event.leaseId, { accepted: progress.event.accepted, at: performance.now() })
    for (const watcher of watchers) watcher()
  }
  const verdictOn = (leaseId: string): Promise<{ readonly accepted: boolean; readonly at: number }> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no verdict')), PATIENCE_MS)
      const look = (): void => {
        const verdict = verdicts.get(leaseId)
        if (!verdict) return
        clearTimeout(timer)
        watchers.delete(look)
        resolve(verdict)
      }
      watchers.add(look)
      look()
    })

  const coordinator = await startCoordinator({
    dryRun: false,
    config: configSchema.parse({
      dataDir: join(folder, 'coordinator'),
      listen: ['/ip4/127.0.0.1/tcp/0'],
      base: { path: DEMO_MODEL, name: 'prove-demo-base' },
      tasks: { dataset: join(folder, 'tasks') },
      groupSize: GROUP_SIZE,
      // More than are made, so that no training step takes CPU time from verification.
      batchGroups: 4096,
      audit: { calibrations },
      rounds: { registrationMs: 200 },
    }),
    trainerFolder: TRAINER_FOLDER,
    python: PYTHON,
    logger: pino({ level: 'warn' }, pino.destination(2)),
    onProgress,
  })
  const key = await generateKeyPair('Ed25519')
  const host = await createHost({ privateKey: key, runId: coordinator.runId, listen: [], onRefusal: () => {} })
  const engine = await openEngine({
    ...{ modelPath: DEMO_MODEL, threads: 1, contextSize: DEFAULT_LIMITS.maxRolloutTokens },
    ...{ slots: GROUP_SIZE, gpu: false },
  })
  try {
    await engine.usePolicy(null, signal)
    await host.dial(coordinator.addresses[0]!, signal)
    const { groups: channel } = channelsOf(host.runId)
    const leave = host.gossip.join(channel, { check: () => {}, deliver: () => {} })
    const nextLease = async (): Promise<Lease> => {
      for (;;) {
        const policyId = coordinator.state.current?.policyId
        const listens = host.gossip.listeners(channel).length > 0
        if (policyId !== undefined && listens) {
          const nonce = randomBytes(16).toString('hex')
          const ask = {
            kind: 'ask',
            count: 1,
            policyId,
            nonce,
            holding: [],
            agent: 'bench',
          } as const
          const { leases } = await requestLeases(
            host,
            host.runId,
            { ...ask, backend: calibratedName(engine.build), tokensPerSecond: 0 },
            signal,
          )
          if (leases[0]) return leases[0]
        }
        await sleep(250, undefined, { signal })
      }
    }
    const latencies: number[] = []
    let accepted = 0
    for (let i = 0; i < GROUPS; i++) {
      const lease = await nextLease()
      const task = parseTask(JSON.parse(new TextDecoder().decode(lease.task)))
      const seed = Buffer.from(lease.seed, 'hex')
      const rollouts = await runGroup(task, GROUP_SIZE, seed, engine, runtime, DEFAULT_LIMITS, signal)
      const group = await seal(lease, task, rollouts, key, host.runId)
      const started = performance.now()
      await host.gossip.publish(channel, group.sealedInline)
      const verdict = await verdictOn(lease.leaseId)
      latencies.push(verdict.at - started)
      accepted += Number(verdict.accepted)
    }
    leave()
    const of = `${GROUPS} groups, ${label}, ${accepted} accepted`
    return [0.5, 0.99].map((q) => ({
      metric: `announcement to verdict, p${100 * q} of ${of}`,
      value: quantile(latencies, q),
      unit: 'ms',
    }))
  } finally {
    await engine.close()
    await host.close()
    await coordinator.close()
    await rm(folder, { recursive: true, force: true })
  }
}
