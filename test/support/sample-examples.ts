import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Example } from '../../tasks/dataset/index.js'
import { checkout } from './checkout.js'
import { planOf, runPlan } from './synthesis-samples.js'

const PLAN = planOf(120, 9, { 'multi-turn': 80, clarification: 25, abstention: 15 })
let samples: Promise<Example[]> | undefined

/**
 * Returns 120 examples of every kind and split. Synthesis takes half a minute of a core, so the examples are kept in the temporary folder
 * and made again only when the compiled code has changed.
 */
export function sampleExamples(): Promise<Example[]> {
  samples ??= readOrMake(join(tmpdir(), `prove-test-samples-${codeHash()}.json`))
  return samples
}

async function readOrMake(file: string): Promise<Example[]> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Example[]
  const { examples } = await runPlan(PLAN)
  await writeFileAtomic(file, JSON.stringify(examples))
  return examples
}

/** Hash of the plan, and of all code and speech that synthesis can depend on. */
function codeHash(): string {
  const hash = createHash('sha256').update(JSON.stringify(PLAN)).update(process.versions.node)
  hash.update(readFileSync(join(checkout, 'package-lock.json')))
  const include = (folder: string, extension: string): void => {
    for (const name of (readdirSync(join(checkout, folder), { recursive: true }) as string[]).sort())
      if (name.endsWith(extension)) hash.update(name).update(readFileSync(join(checkout, folder, name)))
  }
  for (const folder of ['common', 'servers', 'rollout', 'tasks']) include(join('dist', folder), '.js')
  for (const folder of ['servers', 'tasks']) include(folder, '.yaml')
  return hash.digest('hex').slice(0, 32)
}
