import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { exists } from '../jobs/job-directory.js'
import { FILES, SCHEMA, stepFolder } from '../jobs/layout.js'
import { parseJson } from '../jobs/python-process.js'
import { readStep, warmStartSchema } from '../jobs/step-folder.js'
import type { WarmStartResult } from '../jobs/warm-start-process.js'
import { ConfigError } from '../settings/config.js'

/** Names in the folder of a finished warm start; `prove_trainer/adopted_start.py` reads them. */
const ADAPTER = 'adapter.gguf'
const RECORD = 'record.json'

/** Copies step 0 of a run as a finished warm start: its adapter, and the record of its training. @throws ConfigError if the folder has one */
export async function saveFinishedStart(jobs: string, baseSha256: string, folder: string): Promise<void> {
  await checkTarget(folder)
  const { files, warmStart } = await readStep(jobs, 0)
  const step = stepFolder(jobs, 0)
  const { lora } = JSON.parse(await readFile(join(step, FILES.step), 'utf8')) as { lora: unknown }
  await mkdir(folder, { recursive: true })
  await copyFile(join(step, ADAPTER), join(folder, ADAPTER))
  const record = { schema: SCHEMA, baseSha256, lora, adapterSha256: files[ADAPTER], warmStart }
  await writeFileAtomic(join(folder, RECORD), `${JSON.stringify(record, null, 2)}\n`)
}

/** @throws ConfigError if the folder contains a finished warm start already */
export async function checkTarget(folder: string): Promise<void> {
  if (await exists(join(folder, RECORD)))
    throw new ConfigError(`--out: ${folder} contains a finished warm start already: name another folder, or remove it`)
}

/** Writes the record of a merged base next to it, as `<file>.json`. */
export async function saveMergedRecord(
  file: string,
  { merged, record }: WarmStartResult,
  baseSha256: string,
): Promise<void> {
  const content = { schema: SCHEMA, baseSha256, ...merged, warmStart: record }
  await writeFileAtomic(`${file}.json`, `${JSON.stringify(content, null, 2)}\n`)
}

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const recordSchema = z.strictObject({
  schema: z.literal(SCHEMA),
  ...{ baseSha256: hash, adapterSha256: hash },
  lora: z.record(z.string(), z.unknown()),
  warmStart: warmStartSchema,
})

/** @throws ConfigError if the folder contains no finished warm start, or its record is damaged */
export async function checkFinishedStart(folder: string): Promise<void> {
  const advice = 'name a folder that prove-coordinator warm-start --out has written'
  for (const name of [ADAPTER, RECORD])
    if (!(await exists(join(folder, name)))) throw new ConfigError(`--from: ${folder} has no ${name}: ${advice}`)
  const record = recordSchema.safeParse(parseJson(await readFile(join(folder, RECORD), 'utf8')))
  if (!record.success)
    throw new ConfigError(`--from: ${join(folder, RECORD)}: ${z.prettifyError(record.error).slice(0, 400)}: ${advice}`)
}
