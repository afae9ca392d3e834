import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Invitation } from '../../proto/index.js'
import { inBytes } from './in-bytes.js'

/** Bytes that a download needs, and bytes that the disk has. */
export interface DownloadSpace {
  readonly missing: number
  readonly free: number
}

/** Description of a run that a volunteer reads before anything is fetched. */
export interface JoinPlan extends Pick<Invitation, 'runId' | 'operator' | 'purpose' | 'base'> {
  /** Origin of the base model. */
  readonly from: 'given' | 'package' | 'cache' | 'download'
  /** Null: no download. */
  readonly space: DownloadSpace | null
}

/** Formats a plan. */
export function planText({ runId, operator, purpose, base, from, space }: JoinPlan): string {
  return [
    `run          ${runId}`,
    `run by       ${operator === '' ? 'not stated by its operator' : operator}`,
    `purpose      ${purpose === '' ? 'not stated by its operator' : purpose}`,
    `base model   ${base.name}, ${inBytes(base.sizeBytes)}, SHA-256 ${base.sha256}`,
    space === null
      ? `to fetch     ${NOTHING[from]}`
      : `to fetch     ${inBytes(space.missing)}; ${inBytes(space.free)} are free`,
    ...(space === null
      ? []
      : [`from         the run's nodes${base.sources.map((url) => `, ${new URL(url).host}`).join('')}`]),
  ].join('\n')
}

const NOTHING: Readonly<Record<JoinPlan['from'], string>> = {
  given: 'nothing: you gave the base model',
  package: 'nothing: the base model is part of this program',
  cache: 'nothing: the base model was fetched before',
  download: 'nothing',
}

/** Runs that the user agreed to join, each with its base model. */
export interface Agreements {
  has(plan: JoinPlan): Promise<boolean>
  add(plan: JoinPlan): Promise<void>
}

/** Keeps one file per run in the data folder, named after the run, with the hash of its base model. */
export function agreementsIn(dataDir: string): Agreements {
  const folder = join(dataDir, 'agreed')
  return {
    async has({ runId, base }) {
      const text = await readFile(join(folder, runId), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return ''
        throw error
      })
      return text.trim() === base.sha256
    },
    async add({ runId, base }) {
      await mkdir(folder, { recursive: true })
      await writeFileAtomic(join(folder, runId), `${base.sha256}\n`)
    },
  }
}
