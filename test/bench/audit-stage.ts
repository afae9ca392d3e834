import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { type AuditService, auditGroups } from '../../coordinator/intake/audit-run.js'
import { createAuditProcess } from '../../coordinator/jobs/audit-process.js'
import { type GeneratedGroup, honestGroup } from '../../lab/calibrate.js'
import { type CacheType, type EngineProcess, openEngine, openTokenizer } from '../../rollout/engine/index.js'
import {
  createEpisodeRuntime,
  DEFAULT_LIMITS,
  DEFAULT_RULES,
  type EpisodeRuntime,
  rulesNamed,
  type Task,
} from '../../rollout/episode/index.js'
import type { SampledToken } from '../../rollout/verification/sampled-token.js'
import type { AuditedGroup } from '../../rollout/verification/sampled-turns.js'
import { demoTasks } from './audit-tasks.js'
import { DEMO_MODEL, PYTHON, TRAINER_FOLDER } from './demo-stage.js'

/** Groups that were generated in one way, as they arrive, with their token scores. */
export interface Evidence {
  readonly groups: readonly AuditedGroup[]
  readonly tokens: readonly SampledToken[][]
}

/** Generates groups of the demo model's tasks with the real engine, and audits them with the real audit process. */
export interface AuditStage {
  readonly jobs: string
  readonly tasks: readonly Task[]
  readonly runtime: EpisodeRuntime
  withEngine<T>(model: string, cacheType: CacheType, work: (engine: EngineProcess) => Promise<T>): Promise<T>
  /** Generates a group as a node with this engine. Its number determines task and noise. */
  made(index: number, engine: EngineProcess, signal: AbortSignal): Promise<GeneratedGroup>
  /** @param announced  hash of the adapter of the announced policy; null: the bare base */
  audited(groups: readonly AuditedGroup[], announced: string | null, signal: AbortSignal): Promise<Evidence>
  close(): Promise<void>
}

/**
 * @param folder  for jobs
 * @param tasks   number of different tasks
 */
export async function openAuditStage(
  folder: string,
  options: { readonly tasks: number; readonly groupSize: number; readonly seed: number },
): Promise<AuditStage> {
  const { groupSize, seed } = options
  const jobs = join(folder, 'jobs')
  await mkdir(jobs)
  const config = join(folder, 'trainer.json')
  const baseSha256 = createHash('sha256')
    .update(await readFile(DEMO_MODEL))
    .digest('hex')
  await writeFile(config, JSON.stringify({ schema: 1, baseSha256 }))
  const auditor = createAuditProcess(
    {
      python: PYTHON,
      packageFolder: TRAINER_FOLDER,
      jobs,
      base: DEMO_MODEL,
      config,
      maxFailures: 2,
      timeoutMs: 600_000,
    },
    pino({ level: 'warn' }, pino.destination(2)),
  )
  const tokenizer = await openTokenizer(DEMO_MODEL)
  const { tasks, environments } = demoTasks(options.tasks)
  const runtime = createEpisodeRuntime(environments, tokenizer, rulesNamed(DEFAULT_RULES))
  const service: AuditService = { process: auditor, jobs, baseSha256, reader: runtime, limits: DEFAULT_LIMITS }
  return {
    ...{ jobs, tasks, runtime },
    async withEngine(modelPath, cacheType, work) {
      const contextSize = DEFAULT_LIMITS.maxRolloutTokens
      const size = { threads: 1, contextSize, slots: groupSize, gpu: false, cacheType } as const
      const engine = await openEngine({ modelPath, ...size })
      try {
        return await work(engine)
      } finally {
        await engine.close()
      }
    },
    made: (index, engine, signal) =>
      honestGroup(index, { tasks, engine, runtime, service }, { groupSize, seed }, signal),
    async audited(groups, announced, signal) {
      const tokens: SampledToken[][] = []
      for (let i = 0; i < groups.length; i += 8)
        tokens.push(...(await auditGroups(service, announced, groups.slice(i, i + 8), signal)))
      return { groups, tokens }
    },
    async close() {
      await auditor.close()
      await tokenizer.close()
    },
  }
}
