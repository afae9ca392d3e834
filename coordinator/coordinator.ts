import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import writeFileAtomic from 'write-file-atomic'
import { openTokenizer } from '../engine/index.js'
import { createPromptRenderer, DEFAULT_LIMITS, type EpisodeLimits, type Stage } from '../episode/index.js'
import { sealVerdictDigest, type Verdict } from '../proto/index.js'
import { CATALOGUE } from '../servers/catalogue.js'
import { createWorldCache, type ServerDefinition } from '../servers/kernel/index.js'
import {
  channelsOf,
  createBlobStore,
  createGroupGate,
  createHost,
  createSnapshotExchange,
  openIdentity,
  type RefusalEvent,
  serveGroups,
  serveLeases,
  serveVerdicts,
  systemClock,
} from '../swarm/index.js'
import { synthesise } from '../synthesis/index.js'
import { writeBatch } from './batch-spool.js'
import { canaryProbes } from './canary.js'
import { ConfigError, type RunConfig } from './config.js'
import type { RunEvent } from './events.js'
import { createIntake } from './intake.js'
import { createLeaseDesk } from './lease-desk.js'
import { policyFrame } from './policy-description.js'
import { createPublisher } from './publisher.js'
import { openRecorder } from './recorder.js'
import type { BatchRecord, JudgedGroup, RunState } from './run-state.js'
import { openEventLog } from './store.js'
import { createTorchrunEngine, type TrainerEvent } from './train-engine.js'
import { readStep } from './trainer-steps.js'

/** What an operator, or a program that started the coordinator, is told as it happens. */
export type Progress =
  | { readonly type: 'listening'; readonly addresses: readonly string[]; readonly runId: string }
  | { readonly type: 'event'; readonly event: RunEvent }
  | { readonly type: 'refusal'; readonly refusal: RefusalEvent }
  | { readonly type: 'trainer'; readonly event: TrainerEvent }
  | { readonly type: 'complete'; readonly version: number }

export interface Coordinator {
  readonly runId: string
  readonly addresses: readonly string[]
  readonly state: RunState
  /** Resolves when the last version of the run is published. @throws what stopped the run before that */
  readonly complete: Promise<void>
  close(): Promise<void>
}

export interface CoordinatorOptions {
  readonly config: RunConfig
  /** Folder of the `prove_trainer` package. */
  readonly trainerFolder: string
  /** Python with the trainer's packages, unless the configuration names one. */
  readonly python: string
  readonly logger: Logger
  readonly onProgress: (progress: Progress) => void
}

const TICK_MS = 200
const ANNOUNCE_EVERY_MS = 5000
const MAX_TRAINER_FAILURES = 3

/** Starts, or after a stop at any instant resumes, a run. */
export async function startCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const { config, logger, onProgress } = options
  const closing = new AbortController()
  const { signal } = closing
  const clock = systemClock
  const folder = (name: string): string => join(config.dataDir, name)
  for (const name of ['manifests', 'spool/batches']) await mkdir(folder(name), { recursive: true })
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    closing.abort(new Error('the coordinator is closing'))
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }

  try {
    const servers = serversOf(config)
    const identity = await openIdentity(config.dataDir)
    const recorder = await openRecorder(await openEventLog(folder('log')), (event) =>
      onProgress({ type: 'event', event }),
    )
    cleanUps.push(() => recorder.close())
    const tokenizer = await openTokenizer(config.base.path)
    cleanUps.push(() => tokenizer.close())
    const worlds = createWorldCache()
    const tasks = [
      ...synthesise(servers, worlds, { seed: config.tasks.seed, split: 'train', count: config.tasks.count }),
    ]
    const limits: EpisodeLimits = { ...DEFAULT_LIMITS, ...config.limits }
    const stage: Stage = {
      catalogue: new Map(servers.map((server) => [server.name, server])),
      worlds,
      tokenizer,
      renderer: createPromptRenderer(tokenizer),
    }

    const host = await createHost({
      privateKey: identity.privateKey,
      runId: identity.peerId,
      listen: config.listen,
      announce: config.announce,
      exchangePeers: true,
      logger,
      onRefusal: (refusal) => onProgress({ type: 'refusal', refusal }),
    })
    cleanUps.push(() => host.close())
    const blobs = await createBlobStore(folder('blobs'))
    const bodies = await createBlobStore(folder('bodies'))
    const snapshots = await createSnapshotExchange(host, { store: blobs })
    cleanUps.push(() => snapshots.close())
    const channels = channelsOf(host.runId)

    const baseSha256 = await hashFile(config.base.path)
    const frame = policyFrame(config, baseSha256, tokenizer.chatTemplate, servers)
    const intake = createIntake({ config, tasks, limits, stage, recorder, bodies, host, clock, signal })
    const desk = createLeaseDesk(config, tasks, recorder, clock)
    const manifests = folder('manifests')
    const publisher = createPublisher({
      config,
      frame,
      limits,
      recorder,
      blobs,
      snapshots,
      host,
      key: identity.privateKey,
      clock,
      manifests,
    })

    const digest = (node: string, cursor: number, max: number): Promise<Uint8Array> => {
      const record = recorder.state.nodes.get(node)
      return sealVerdictDigest(identity.privateKey, host.runId, {
        peerId: node,
        fromCursor: cursor,
        verdicts: (record?.verdicts.slice(cursor, cursor + max) ?? []).map(toVerdict),
        totalCredit: record?.credit ?? 0,
        issuedAtMs: clock.now(),
      })
    }
    const services = await Promise.all([
      serveLeases(host, (request, caller) => desk.answer(request, caller.peer)),
      serveVerdicts(host, async ({ cursor, max }, { peer }) => ({
        digest: await digest(peer, cursor, max),
        more: (recorder.state.nodes.get(peer)?.verdicts.length ?? 0) > cursor + max,
      })),
      serveGroups(host, {
        lookup: (hash) => bodies.read(hash),
        onOffer: async (group) => intake.accept(group),
      }),
    ])
    cleanUps.push(() => Promise.all(services.map((server) => server.close())))
    const gate = createGroupGate(clock)
    host.gossip.join(channels.groups, {
      check: (group) => {
        gate.check(group)
        intake.check(group)
      },
      deliver: (group) => intake.accept(group),
    })

    await writeFileAtomic(
      folder('trainer.json'),
      JSON.stringify({
        schema: 1,
        baseSha256,
        baseModel: { name: config.base.name },
        probes: canaryProbes(tasks, stage, limits),
        ...config.trainer.settings,
      }),
    )
    const trainer = createTorchrunEngine(
      {
        python: config.trainer.python ?? options.python,
        packageFolder: options.trainerFolder,
        spool: folder('spool'),
        base: config.base.path,
        config: folder('trainer.json'),
        processes: config.trainer.processes,
        logFile: folder('trainer.log'),
        maxFailures: MAX_TRAINER_FAILURES,
      },
      logger,
    )
    cleanUps.push(() => trainer.close())

    await publisher.restore()
    onProgress({ type: 'listening', addresses: host.addresses(), runId: host.runId })

    /** Forms the next batch when enough groups are there. The log decides which: the first that are fresh enough. */
    const formBatch = (): Promise<BatchRecord | null> =>
      recorder.record((state): BatchRecord | null => {
        const chosen = state.trainable(config.maxStaleness).slice(0, config.batchGroups)
        if (state.pendingBatch || chosen.length < config.batchGroups) return null
        const leaseIds = chosen.map(({ leaseId }) => leaseId)
        const step = state.current!.step + 1
        const name = createHash('sha256')
          .update(JSON.stringify([step, leaseIds]))
          .digest('hex')
          .slice(0, 12)
        return { type: 'batched', atMs: clock.now(), batchId: `step-${step}-${name}`, step, leaseIds }
      })

    const train = async (batch: BatchRecord): Promise<void> => {
      const groups = []
      for (const leaseId of batch.leaseIds) {
        const { version } = recorder.state.judged.get(leaseId)!
        groups.push({ leaseId, policyVersion: version, rollouts: await intake.replayAccepted(leaseId, signal) })
      }
      const { batchId, step } = batch
      await writeBatch(folder('spool'), { batchId, roundId: `round-${step}`, baseSha256, parentStep: step - 1, groups })
      const outcome = await trainer.outcome(batchId, signal)
      if (outcome.kind === 'refused') {
        await recorder.record(() => ({
          type: 'batch-refused',
          atMs: clock.now(),
          batchId,
          code: outcome.code,
          detail: outcome.detail,
        }))
        return
      }
      onProgress({ type: 'trainer', event: outcome.event })
      await publisher.publish(step, await readStep(folder('spool'), step))
      await recorder.record(() => ({ type: 'trained', atMs: clock.now(), batchId, step, skipped: outcome.skipped }))
    }

    const run = async (): Promise<void> => {
      await trainer.start(signal)
      if (!recorder.state.current) await publisher.publish(0, await readStep(folder('spool'), 0))
      while (recorder.state.current!.version < config.versions) {
        const batch = recorder.state.pendingBatch ?? (await formBatch())
        if (batch) await train(batch)
        else await sleep(TICK_MS, undefined, { signal })
      }
      await trainer.close()
      onProgress({ type: 'complete', version: recorder.state.current!.version })
    }

    /** Slow, periodic duties; each failure is logged and the next turn tries again. */
    const housekeeping = async (): Promise<void> => {
      const sent = new Map<string, number>(
        [...recorder.state.nodes].map(([node, { verdicts }]) => [node, verdicts.length]),
      )
      for (let turn = 0; ; turn++) {
        await sleep(TICK_MS, undefined, { signal })
        await desk.releaseLapsed()
        for (const [node, { verdicts }] of recorder.state.nodes) {
          const from = sent.get(node) ?? 0
          if (verdicts.length === from) continue
          sent.set(node, verdicts.length)
          await host.gossip.publish(channels.verdicts, await digest(node, from, verdicts.length - from))
        }
        if ((turn * TICK_MS) % ANNOUNCE_EVERY_MS === 0) await publisher.announce()
      }
    }
    const background = housekeeping().catch((error: unknown) => {
      if (!signal.aborted) logger.error({ error }, 'housekeeping stopped')
    })
    const complete = run()
    const ended = complete.catch((error: unknown) => {
      if (!signal.aborted) logger.error({ error }, 'the run stopped')
    })
    cleanUps.push(() => Promise.all([background, ended, intake.idle()]))
    return { runId: host.runId, addresses: host.addresses(), state: recorder.state, complete, close }
  } catch (error) {
    await close()
    throw error
  }
}

function serversOf(config: RunConfig): ServerDefinition[] {
  return config.tasks.servers.map((name) => {
    const server = CATALOGUE.get(name)
    if (!server)
      throw new ConfigError(
        `tasks.servers: there is no server "${name}"; choose from ${[...CATALOGUE.keys()].join(', ')}`,
      )
    return server
  })
}

function toVerdict({ leaseId, bodySha256, accepted, code, detail, credit, atMs }: JudgedGroup): Verdict {
  return { leaseId, bodySha256, accepted, code, detail, credit, receivedAtMs: atMs }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
