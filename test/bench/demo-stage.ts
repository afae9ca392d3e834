import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openTokenizer } from '../../rollout/engine/index.js'
import {
  createEpisodeRuntime,
  DEFAULT_RULES,
  type EpisodeRuntime,
  rulesNamed,
  type Task,
} from '../../rollout/episode/index.js'
import { demoTasks } from './audit-tasks.js'

export const CHECKOUT = fileURLToPath(
  new URL(import.meta.url.includes('/dist/') ? '../../../' : '../../', import.meta.url),
)
export const DEMO_MODEL = join(CHECKOUT, 'models', 'demo', 'prove-demo-base-f16.gguf')
export const DEMO_CALIBRATION = join(CHECKOUT, 'models', 'demo', 'calibration-f16.json')
export const PYTHON = join(CHECKOUT, '.venv', 'bin', 'python')
export const TRAINER_FOLDER = join(CHECKOUT, 'coordinator', 'trainer')

/** Opens the demo model's tokenizer, its environments and some of its tasks. */
export interface DemoRuntime {
  readonly runtime: EpisodeRuntime
  readonly tasks: readonly Task[]
  readonly baseSha256: string
  close(): Promise<void>
}

export async function openDemoRuntime(taskCount: number): Promise<DemoRuntime> {
  const tokenizer = await openTokenizer(DEMO_MODEL)
  const { tasks, environments } = demoTasks(taskCount)
  const runtime = createEpisodeRuntime(environments, tokenizer, rulesNamed(DEFAULT_RULES))
  const baseSha256 = createHash('sha256')
    .update(await readFile(DEMO_MODEL))
    .digest('hex')
  return { runtime, tasks, baseSha256, close: () => tokenizer.close() }
}
