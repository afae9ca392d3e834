import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Invitation } from '../../proto/index.js'
import { inBytes } from './in-bytes.js'

/** What a download needs of the disk, and what the disk has, in bytes. */
export interface DownloadRoom {
  readonly missing: number
  readonly free: number
}

/** What a volunteer is told of a run before anything is fetched for it. */
export interface JoinPlan extends Pick<Invitation, 'runId' | 'operator' | 'purpose' | 'base'> {
  /** Where the base model comes from. */
  readonly from: 'given' | 'package' | 'cache' | 'download'
  /** Only for a download. */
  readonly capacity: DownloadRoom | null
}

export function planText({ runId, operator, purpose, base, from, capacity }: JoinPlan): string {
  return [
    `run          ${runId}`,
    `run by       ${operator === '' ? 'its operator does not say' : operator}`,
    `for          ${purpose === '' ? 'its operator does not say' : purpose}`,
    `base model   ${base.name}, ${inBytes(base.sizeBytes)}, SHA-256 ${base.sha256}`,
    capacity === null
      ? `to fetch     ${NOTHING[from]}`
      : `to fetch     ${inBytes(capacity.missing)}; ${inBytes(capacity.free)} are free`,
    ...(capacity === null
      ? []
      : [`from         the run's nodes${base.sources.map((url) => `, ${new URL(url).host}`).join('')}`]),
  ].join('\n')
}

const NOTHING: Readonly<Record<JoinPlan['from'], string>> = {
  given: 'nothing: the base model is the one you gave',
  package: 'nothing: the base model came with this program',
  cache: 'nothing: the base model was fetched before',
  download: 'nothing',
}

/** Which runs the user has agreed to take part in, each with its base model. */
export interface Agreements {
  has(plan: JoinPlan): Promise<boolean>
  add(plan: JoinPlan): Promise<void>
}

/** One file per run in the node's data folder, named by the run and holding the hash of its base model. */
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
