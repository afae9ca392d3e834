import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { z } from 'zod'
import { TrainerError } from './errors.js'
import { unlessMissing } from './job-directory.js'
import { FILES, FOLDERS, leaseFile, lifeFolder, SCHEMA } from './layout.js'
import { createTail, parseJson, pythonEnvironment } from './python-process.js'
import type { Ending } from './supervisor.js'
import { type LaunchedProgram, launchCommands } from './torchrun.js'

const rankFile = z.object({
  rank: z.int().min(0),
  host: z.string(),
  pid: z.int(),
  beat: z.int(),
  /** Whether it has ended and released its devices. */
  ended: z.boolean(),
  error: z.object({ code: z.string(), message: z.string(), batchId: z.string().nullish() }).nullable(),
})
/** State that a rank reports. */
export type RankState = z.output<typeof rankFile>

export interface ClusterEnding extends Ending {
  /** Errors that ranks reported at their end, by rank. */
  readonly errors: readonly NonNullable<RankState['error']>[]
}

export interface ClusterOptions extends Omit<LaunchedProgram, 'life' | 'env'> {
  readonly packageFolder: string
  readonly env: Readonly<Record<string, string>>
  readonly jobs: string
  /** Time from asking ranks to end until the commands that started them are killed. */
  readonly closeTimeoutMs: number
  readonly onStart: () => void
  /** Called with each event of the first rank. */
  readonly onLine: (value: unknown, line: string) => void
  /** Called with the output of the commands; events are read from the job directory. */
  readonly onStderr: (text: string) => void
  /** Called with all ranks, when another one has reported or ended. */
  readonly onRanks: (ranks: readonly RankState[]) => void
}

const POLL_MS = 250
/** Renewals of the lease within the silence limit, so that one or two may be late. */
const BEATS = 6
/** Bytes of events that are read at once. */
const CHUNK_BYTES = 2 ** 20
const LIFE = /^[a-z0-9]{1,32}$/

/**
 * Runs one life of ranks on several machines, which share only the job directory with the coordinator. Ranks run while the coordinator
 * renews their lease there, and report by files. The life ends, for all ranks, when a command that started some of them ends, or when a
 * rank falls silent.
 */
export async function liveOnCluster(options: ClusterOptions, closing: AbortSignal): Promise<ClusterEnding> {
  options.onStart()
  try {
    return await live(options, closing)
  } catch (fault) {
    // A file server may be away. The ranks start again when it is back.
    if (!isOfDisk(fault)) throw fault
    return { code: null, lastWords: fault.message, lastedMs: 0, errors: [] }
  }
}

async function live(options: ClusterOptions, closing: AbortSignal): Promise<ClusterEnding> {
  const { jobs, launch, packageFolder, env, closeTimeoutMs, onLine, onStderr, onRanks } = options
  const life = randomBytes(6).toString('hex')
  const folder = lifeFolder(jobs, life)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // From here on, ranks of earlier lives end.
  const lease = await renewLease(jobs, life, launch.silenceMs)
  const startedAt = performance.now()
  const tail = createTail()
  const over = new AbortController()
  try {
    await untilGone(jobs, life, launch.silenceMs, closing)
    if (closing.aborted) return { code: null, lastWords: '', lastedMs: 0, errors: [] }
    const write = (text: string): void => {
      tail.add(text)
      onStderr(text)
    }
    const program = { ...options, life, env: { ...pythonEnvironment(packageFolder), ...env } }
    const commands = launchCommands(program).map((words) => runCommand(words, write, over.signal, closeTimeoutMs))
    const first = Promise.race(commands)
    const events = readEvents(join(folder, FILES.events), onLine)
    const watch = watchRanks(folder, launch.silenceMs, onRanks)
    let isOver = false
    first
      .finally(() => {
        isOver = true
      })
      .catch(() => undefined)
    /** Reads news of the ranks. @returns  why they cannot continue */
    const look = async (): Promise<string | null> => {
      try {
        await events.read()
        const silent = await watch.look()
        return silent && `rank ${silent.rank} on ${silent.host} has sent no sign of life for ${launch.silenceMs} ms`
      } catch (fault) {
        if (!isOfDisk(fault)) throw fault
        return fault.message
      }
    }
    let fault: string | null = null
    while (!isOver && fault === null && !closing.aborted) {
      await sleep(POLL_MS, undefined, { signal: closing }).catch(() => undefined)
      fault = await look()
    }
    if (fault !== null) write(`${fault}\n`)
    const isOurs = fault !== null || closing.aborted
    await lease.withdraw()
    const ended = Promise.allSettled(commands)
    const patience = new AbortController()
    await Promise.race([ended, sleep(closeTimeoutMs, undefined, { signal: patience.signal }).catch(() => undefined)])
    patience.abort()
    over.abort()
    await ended
    await look()
    const { code } = isOurs ? { code: null } : await first
    const errors = watch.ranks().flatMap(({ error }) => error ?? [])
    return { code, lastWords: tail.lastLine(), lastedMs: performance.now() - startedAt, errors }
  } finally {
    over.abort()
    await lease.withdraw()
  }
}

const isOfDisk = (fault: unknown): fault is NodeJS.ErrnoException => fault instanceof Error && 'syscall' in fault

/** Runs a command to its end. @throws TrainerError `trainer_unusable` when it cannot be run */
async function runCommand(
  [command, ...args]: readonly [string, ...string[]],
  write: (text: string) => void,
  over: AbortSignal,
  killAfterMs: number,
): Promise<{ readonly code: number | null }> {
  const child = execa(command, args, {
    stdin: 'ignore',
    buffer: false,
    reject: false,
    cleanup: false,
    cancelSignal: over,
    forceKillAfterDelay: killAfterMs,
  })
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write)
  const { exitCode, code, originalMessage } = await child
  if (code !== undefined && !over.aborted)
    throw new TrainerError('trainer_unusable', `${command}: ${originalMessage ?? code}`)
  return { code: exitCode ?? null }
}

/** Writes the lease of a life repeatedly, until it is withdrawn. */
export async function renewLease(jobs: string, life: string, silenceMs: number) {
  const path = leaseFile(jobs)
  let beat = 0
  let last = Promise.resolve()
  const write = async (): Promise<void> => {
    const draft = `${path}.tmp`
    await writeFile(draft, JSON.stringify({ schema: SCHEMA, life, beat: beat++, silenceMs }))
    await rename(draft, path)
  }
  await write()
  const timer = setInterval(() => {
    // If the disk fails for long, ranks end, which is noticed.
    last = last.then(write).catch(() => undefined)
  }, silenceMs / BEATS)
  let withdrawn: Promise<void> | null = null
  return {
    withdraw(): Promise<void> {
      clearInterval(timer)
      // If it cannot be removed, it expires.
      withdrawn ??= last.then(() => rm(path, { force: true })).catch(() => undefined)
      return withdrawn
    },
  }
}

/**
 * Waits until ranks of earlier lives have ended, or were without a lease for long enough, because they would occupy device memory.
 * Removes their folders.
 */
async function untilGone(jobs: string, life: string, silenceMs: number, signal: AbortSignal): Promise<void> {
  const folder = join(jobs, FOLDERS.launch)
  const earlier = (await readdir(folder)).filter((name) => LIFE.test(name) && name !== life)
  const end = performance.now() + silenceMs
  for (const name of earlier) {
    const left = async (): Promise<boolean> => (await readRanks(join(folder, name))).some(({ ended }) => !ended)
    while (performance.now() < end && (await left())) {
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
    }
    await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function readRanks(folder: string): Promise<RankState[]> {
  const names = (await unlessMissing(readdir(folder))) ?? []
  const found = await Promise.all(
    names
      .filter((name) => /^rank-\d+\.json$/.test(name))
      .map(async (name) => {
        const text = await unlessMissing(readFile(join(folder, name), 'utf8'))
        const parsed = rankFile.safeParse(text === null ? null : parseJson(text))
        return parsed.success ? [parsed.data] : []
      }),
  )
  return found.flat().sort((one, other) => one.rank - other.rank)
}

/** Watches the state files of ranks. */
function watchRanks(folder: string, silenceMs: number, onRanks: (ranks: readonly RankState[]) => void) {
  let ranks: RankState[] = []
  const lastBeats = new Map<number, { beat: number; at: number }>()
  return {
    ranks: (): readonly RankState[] => ranks,
    /** Returns a rank that should run but is silent. */
    async look(): Promise<RankState | null> {
      const shown = ranks.map(({ rank, ended }) => `${rank} ${ended}`).join()
      ranks = await readRanks(folder)
      if (ranks.map(({ rank, ended }) => `${rank} ${ended}`).join() !== shown) onRanks(ranks)
      const now = performance.now()
      for (const { rank, beat } of ranks) if (lastBeats.get(rank)?.beat !== beat) lastBeats.set(rank, { beat, at: now })
      return ranks.find(({ rank, ended }) => !ended && now - lastBeats.get(rank)!.at > silenceMs) ?? null
    },
  }
}

/** Reads a file to which another machine appends lines. */
function readEvents(path: string, onLine: (value: unknown, line: string) => void) {
  let at = 0
  let rest: Buffer = Buffer.alloc(0)
  return {
    /** Reads new lines. */
    async read(): Promise<void> {
      // Opened each time, because a network file system shows the writes of others only to a newly opened file.
      const file = await unlessMissing(open(path, 'r'))
      if (!file) return
      try {
        for (;;) {
          const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at)
          if (bytesRead === 0) return
          at += bytesRead
          rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)])
          for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
            const line = rest.subarray(0, end).toString('utf8')
            rest = rest.subarray(end + 1)
            onLine(parseJson(line), line)
          }
          if (rest.length > CHUNK_BYTES) throw new TrainerError('trainer_failed', `${path}: a line without an end`)
        }
      } finally {
        await file.close()
      }
    },
  }
}
