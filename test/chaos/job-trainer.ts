import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { awaitsFindings } from '../../coordinator/jobs/batch-folder.js'
import { TrainerError } from '../../coordinator/jobs/errors.js'
import { FOLDERS, findingsFile } from '../../coordinator/jobs/layout.js'
import type { BatchOutcome } from '../../coordinator/jobs/train-engine.js'
import type { RunTrainer } from '../../coordinator/versions/run-trainer.js'
import { sha256 } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'
import { noise } from '../support/swarm-nodes.js'
import { scoresOf } from './script-policy.js'

export interface JobTrainerOptions {
  readonly jobs: string
  readonly clock: Clock
  readonly stepMs: number
  readonly adapterBytes: number
  /** The step that finds the policy drifted, and goes back to the adapter before. */
  readonly driftsAt: number | null
  readonly canaries: readonly { readonly prompt: readonly number[]; readonly continuation: readonly number[] }[]
}

export interface JobTrainer extends RunTrainer {
  /** Ends it in the middle of what it does; it is started again as the real one would be. */
  crash(): void
}

interface BatchManifest {
  readonly batchId: string
  readonly parentStep: number
  readonly tokensSha256: string
  readonly backTo?: number
  readonly rollouts: readonly { readonly audit?: boolean }[]
}

interface StepFile {
  readonly batchId: string | null
  readonly adapterStep: number
  /** Of the noise that is its adapter. */
  readonly seed: number
}

const RESTART_MS = 1000
const LORA = { rank: 4, alpha: 8, targetModules: ['q_proj'] }

/** Returns an adapter that differs from all others in a few weights, so that differences are small. */
function stepOf(sizeBytes: number, seed: number): Uint8Array {
  const adapter = noise(sizeBytes, 1)
  adapter.set(noise(Math.min(64, sizeBytes), seed))
  return adapter
}

/**
 * The trainer of a simulation. Like the real one it reads batches from the spool, checks them, writes steps that follow from
 * their content alone, and begins again after a crash; its adapters are noise.
 */
export function createJobTrainer(options: JobTrainerOptions): JobTrainer {
  const { jobs, clock, stepMs, adapterBytes, driftsAt, canaries } = options
  const steps = join(jobs, 'steps')
  const folderOf = (step: number): string => join(steps, `step-${step}`)
  let life = new AbortController()
  let current = -1

  const write = async (path: string, data: Uint8Array | string): Promise<void> => {
    life.signal.throwIfAborted()
    const file = await open(path, 'w')
    try {
      await file.writeFile(data)
      await file.sync()
    } finally {
      await file.close()
    }
  }

  const readStep = async (step: number): Promise<StepFile> =>
    JSON.parse(await readFile(join(folderOf(step), 'step.json'), 'utf8')) as StepFile

  /** @param content  what the step follows from @param backTo  the step whose adapter it has, as the operator ordered */
  const makeStep = async (step: number, batchId: string | null, content: string, backTo?: number): Promise<void> => {
    const draft = `${folderOf(step)}.tmp`
    await mkdir(join(draft, 'adapter'), { recursive: true })
    const own = { adapterStep: step, seed: createHash('sha256').update(content).digest().readUInt32LE(0) }
    const drifted = step === driftsAt
    const earlier = drifted ? (await readStep(step - 1)).adapterStep - 1 : backTo
    const { adapterStep, seed } = earlier === undefined ? own : await readStep(earlier)
    const skipped = drifted ? 'drift' : backTo === undefined ? null : 'rollback'
    const adapter = stepOf(adapterBytes, seed)
    const files = {
      'adapter/adapter_model.safetensors': noise(4096, seed),
      'adapter/adapter_config.json': new TextEncoder().encode(JSON.stringify({ r: LORA.rank, seed })),
      'adapter.gguf': adapter,
    }
    for (const [name, data] of Object.entries(files)) {
      await write(join(draft, name), data)
      await clock.sleep(stepMs / 4, life.signal)
    }
    const record = {
      ...{ step, batchId, skipped, adapterStep, seed, lora: LORA, warmStart: null, stats: null },
      files: Object.fromEntries(Object.entries(files).map(([name, data]) => [name, sha256(data)])),
      canaries: canaries.map(({ prompt, continuation }) => {
        const tokens = [...prompt, ...continuation]
        const scores = (hash: string | null): number[] => scoresOf(hash, tokens, prompt.length)
        // A script's first token tells nothing of its seed.
        return { prompt, continuation, base: scores(null), adapter: scores(sha256(adapter)) }
      }),
    }
    await write(join(draft, 'step.json'), JSON.stringify(record))
    life.signal.throwIfAborted()
    await rename(draft, folderOf(step))
    current = step
  }

  const resume = async (): Promise<void> => {
    await mkdir(steps, { recursive: true })
    current = -1
    for (const name of (await readdir(steps)).sort()) {
      if (name.endsWith('.tmp')) await rm(join(steps, name), { recursive: true })
      else current = Math.max(current, Number(name.slice('step-'.length)))
    }
    if (current < 0) await makeStep(0, null, 'the initial adapter')
  }

  const train = async (batchId: string): Promise<BatchOutcome> => {
    const folder = join(jobs, 'batches', batchId)
    const text = await readFile(join(folder, 'manifest.json'), 'utf8')
    const manifest = JSON.parse(text) as BatchManifest
    const refused = (code: string): BatchOutcome => ({ kind: 'refused', code, detail: batchId })
    if (manifest.batchId !== batchId) return refused('batch_id')
    if (sha256(await readFile(join(folder, 'tokens.safetensors'))) !== manifest.tokensSha256)
      return refused('tokens_hash')
    const step = manifest.parentStep + 1
    if (await exists(folderOf(step))) {
      const made = await readStep(step)
      return made.batchId === batchId ? { kind: 'trained', step } : refused('parent_mismatch')
    }
    if (manifest.parentStep !== current) return refused('parent_mismatch')
    await clock.sleep(stepMs / 4, life.signal)
    if (!manifest.rollouts.some(({ audit }) => audit)) {
      await makeStep(step, batchId, text, manifest.backTo)
      return { kind: 'trained', step }
    }
    await mkdir(join(folder, FOLDERS.tokenScores), { recursive: true })
    life.signal.throwIfAborted()
    if (await awaitsFindings(jobs, batchId)) return { kind: 'measured' }
    await makeStep(step, batchId, text + (await readFile(findingsFile(jobs, batchId), 'utf8')))
    return { kind: 'trained', step }
  }

  /** Does the work, as often as the trainer is ended in the middle of it. */
  const persist = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    for (;;) {
      signal.throwIfAborted()
      const { signal: living } = life
      try {
        return await work()
      } catch (why) {
        if (!living.aborted) throw why
      }
      await clock.sleep(RESTART_MS, signal)
      life = new AbortController()
      await resume().catch((why: unknown) => {
        if (!life.signal.aborted) throw why
      })
    }
  }

  return {
    async start(signal) {
      await persist(resume, signal)
      return { step: current }
    },
    outcome: (batchId, signal) => persist(() => train(batchId), signal),
    settle: async () => undefined,
    async close() {
      life.abort(new TrainerError('closed', 'the trainer was closed'))
    },
    crash() {
      life.abort(new Error('the trainer was killed'))
    },
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
