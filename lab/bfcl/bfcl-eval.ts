import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { BfclError } from './errors.js'
import { runWatched, type WatchedProcess } from './watched-process.js'

/** The Berkeley Function-Calling Leaderboard as its package on PyPI. No other file knows its commands, names and files. */
export const BFCL = { package: 'bfcl-eval', version: '2026.3.23', data: 'BFCL_v4' } as const

/**
 * Name under which BFCL asks for the model. Its table of models is fixed. This entry is one of the few whose handler sends plain chat
 * completions with tools, to the server of `OPENAI_BASE_URL`.
 */
export const ENTRY = 'openbmb/MiniCPM-SALA-FC'

/** Temperature that BFCL asks for. Its own default, 0.001, is for servers that do not accept 0. */
export const TEMPERATURE = 0

/** Group of the categories, which is also the folder of their files. */
const GROUPS = {
  non_live: [
    ...['simple_python', 'simple_java', 'simple_javascript', 'multiple'],
    ...['parallel', 'parallel_multiple', 'irrelevance'],
  ],
  live: [
    ...['live_simple', 'live_multiple', 'live_parallel', 'live_parallel_multiple'],
    ...['live_irrelevance', 'live_relevance'],
  ],
  multi_turn: ['multi_turn_base', 'multi_turn_miss_func', 'multi_turn_miss_param', 'multi_turn_long_context'],
} as const

/** Categories that need nothing but the served model. The categories of BFCL for memory and web search need more. */
export const CATEGORIES: readonly string[] = Object.values(GROUPS).flat()

/** Chosen cases by category. */
export type Cases = ReadonlyMap<string, readonly string[]>

/** An answer of the model in a result file. */
export interface Answer {
  readonly id: string
  /** The line of the file, with everything that BFCL recorded. */
  readonly line: string
  /** Message of an error that ended the case early. */
  readonly error: string | null
}

/** The score of a category. */
export interface CategoryScore {
  readonly cases: number
  /** Ids of the cases that BFCL counts as wrong. */
  readonly wrong: ReadonlySet<string>
}

/** Folder of one policy, with everything that BFCL reads and writes. */
export interface BfclFolder {
  /** Python of an environment that has the package. */
  readonly python: string
  readonly folder: string
}

/** Returns the ids of all cases of a category. @throws BfclError `bad_file` */
export async function allCases({ python }: Pick<BfclFolder, 'python'>, category: string): Promise<string[]> {
  const libraries = join(dirname(dirname(python)), 'lib')
  const [version] = (await readdir(libraries)).filter((name) => /^python3\.\d+$/.test(name))
  const data = join(libraries, version ?? 'python3', 'site-packages', 'bfcl_eval', 'data')
  const path = join(data, `${BFCL.data}_${category}.json`)
  const ids: string[] = []
  for await (const line of linesOf(path)) ids.push(parse(caseLine, line, path).id)
  if (ids.length === 0) throw new BfclError('bad_file', `${path}: no cases`)
  return ids
}

/** Returns the answers so far to the chosen cases of a category. A case that the server did not answer is left out: BFCL repeats it. */
export async function answersTo(
  { folder }: Pick<BfclFolder, 'folder'>,
  category: string,
  cases: readonly string[],
): Promise<Answer[]> {
  const answers = await readAnswers(resultFile(folder, 'result', category))
  return cases.flatMap((id) => {
    const answer = answers.get(id)
    return answer === undefined || lacksAnswer(answer) ? [] : [answer]
  })
}

/**
 * Lets BFCL ask the model for the answers that are missing.
 * @param url  base URL of the server, such as `http://127.0.0.1:8000/v1`
 * @param stallMs  longest time without a new answer
 * @param onAnswer  called when there may be new answers
 * @throws BfclError `bfcl_failed`; `unanswered` if the server did not answer some cases
 */
export async function generate(
  bfcl: BfclFolder,
  cases: Cases,
  { url, stallMs, onAnswer }: { url: string; stallMs: number; onAnswer: () => void },
  signal: AbortSignal,
): Promise<void> {
  const { folder } = bfcl
  const results = [...cases.keys()].map((category) => resultFile(folder, 'result', category))
  for (const path of results) await removeUnanswered(path)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'test_case_ids_to_generate.json'), JSON.stringify(Object.fromEntries(cases)))
  const ended = await run(
    bfcl,
    ['generate', '--model', ENTRY, '--run-ids', '--num-threads', '1', '--temperature', `${TEMPERATURE}`],
    { env: { OPENAI_BASE_URL: url }, results, stallMs, onChange: onAnswer },
    signal,
  )
  if (ended.exitCode !== 0) throw new BfclError('bfcl_failed', `bfcl generate ended with ${ended.said}`)
  const missing: string[] = []
  let error: string | undefined
  for (const [category, ids] of cases) {
    const answered = new Set((await answersTo(bfcl, category, ids)).map(({ id }) => id))
    missing.push(...ids.filter((id) => !answered.has(id)))
    error ??=
      [...(await readAnswers(resultFile(folder, 'result', category))).values()].find(lacksAnswer)?.error ?? error
  }
  if (missing.length === 0) return
  const why = error === undefined ? '' : ` (${error.slice(0, 200)})`
  throw new BfclError(
    'unanswered',
    `${missing.length} cases, such as ${missing[0]}, got no answer of the server${why}: run the same command again`,
  )
}

/** Lets BFCL score the answers to the chosen cases. @throws BfclError `bfcl_failed`, `bad_file` */
export async function score(bfcl: BfclFolder, cases: Cases, signal: AbortSignal): Promise<Map<string, CategoryScore>> {
  const { folder } = bfcl
  // BFCL scores every answer of a folder. So the answers to the chosen cases get a folder without the others.
  for (const name of ['chosen', 'score']) await rm(join(folder, name), { recursive: true, force: true })
  for (const [category, ids] of cases) {
    const answers = await answersTo(bfcl, category, ids)
    await writeLines(resultFile(folder, 'chosen', category), answers)
  }
  const ended = await run(
    bfcl,
    [
      ...['evaluate', '--model', ENTRY, '--test-category', [...cases.keys()].join(',')],
      ...['--result-dir', 'chosen', '--score-dir', 'score', '--partial-eval'],
    ],
    {
      env: {},
      results: [...cases.keys()].map((category) => scoreFile(folder, category)),
      stallMs: SCORE_MS,
      onChange: () => undefined,
    },
    signal,
  )
  const scores = new Map<string, CategoryScore>()
  for (const [category, ids] of cases) {
    const path = scoreFile(folder, category)
    // The exit status says less: after the scores BFCL computes costs, which fails for a single case.
    if (!existsSync(path))
      throw new BfclError('bfcl_failed', `bfcl evaluate wrote no ${path}: it ended with ${ended.said}`)
    const found = await readScore(path)
    if (found.cases !== ids.length)
      throw new BfclError('bad_file', `${path}: scores of ${found.cases} cases instead of ${ids.length}`)
    scores.set(category, found)
  }
  return scores
}

/** Longest time of BFCL's scoring of one category. */
const SCORE_MS = 30 * 60_000

/** Runs BFCL's command line in Python until it ends or its parent does: then its standard input closes. */
const SHIM = `
import os, threading
def watch():
    while os.read(0, 4096):
        pass
    os._exit(1)
threading.Thread(target=watch, daemon=True).start()
from bfcl_eval.__main__ import cli
cli(prog_name="bfcl")
`

const run = (
  { python, folder }: BfclFolder,
  args: readonly string[],
  { env, ...watching }: { env: Record<string, string> } & Pick<WatchedProcess, 'results' | 'stallMs' | 'onChange'>,
  signal: AbortSignal,
) =>
  runWatched(
    {
      ...{ command: python, args: ['-c', SHIM, ...args], cwd: folder, log: join(folder, 'bfcl.log'), ...watching },
      env: {
        ...{ BFCL_PROJECT_ROOT: folder, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: '', ...env },
        // It needs no network, and a proxy of this machine would get the requests to the server.
        ...{ HF_HUB_OFFLINE: '1', NO_PROXY: '127.0.0.1,localhost', PYTHONUTF8: '1', PYTHONUNBUFFERED: '1' },
      },
    },
    signal,
  )

const modelFolder = ENTRY.replaceAll('/', '_')

const groupOf = (category: string): string =>
  Object.entries(GROUPS).find(([, own]) => (own as readonly string[]).includes(category))![0]

const resultFile = (folder: string, kind: 'result' | 'chosen', category: string): string =>
  join(folder, kind, modelFolder, groupOf(category), `${BFCL.data}_${category}_result.json`)

const scoreFile = (folder: string, category: string): string =>
  join(folder, 'score', modelFolder, groupOf(category), `${BFCL.data}_${category}_score.json`)

/** Text with which BFCL replaces the answer of a case that raised an exception. */
const ERROR_PREFIX = 'Error during inference: '

/** Errors that say nothing about the model: the server did not answer, or failed. */
const NO_ANSWER = /^(Connection error|Request timed out|Error code: (401|403|404|408|429|5\d\d)\b)/

const lacksAnswer = ({ error }: Answer): boolean => error !== null && NO_ANSWER.test(error)

/** Removes damaged lines and unanswered cases, because BFCL does not repeat a case that has a line. */
async function removeUnanswered(path: string): Promise<void> {
  if (!existsSync(path)) return
  await writeLines(
    path,
    [...(await readAnswers(path)).values()].filter((answer) => !lacksAnswer(answer)),
  )
}

async function writeLines(path: string, answers: readonly Answer[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFileAtomic(path, answers.map(({ line }) => `${line}\n`).join(''))
}

/** Reads a result file, by id. A kill may leave a damaged line, which is left out. Returns an empty map if there is no such file. */
export async function readAnswers(path: string): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  for await (const line of existsSync(path) ? linesOf(path) : []) {
    const parsed = answerLine.safeParse(jsonOf(line))
    if (!parsed.success) continue
    const { id: own, result } = parsed.data
    const failed = typeof result === 'string' && result.startsWith(ERROR_PREFIX)
    answers.set(own, { id: own, line, error: failed ? result.slice(ERROR_PREFIX.length) : null })
  }
  return answers
}

/** Reads a score file: a head with counts, then the wrong cases. @throws BfclError `bad_file` */
export async function readScore(path: string): Promise<CategoryScore> {
  let head: z.output<typeof scoreHead> | undefined
  const wrong = new Set<string>()
  for await (const line of linesOf(path)) {
    if (head === undefined) head = parse(scoreHead, line, path)
    else wrong.add(parse(wrongLine, line, path).id)
  }
  if (head === undefined) throw new BfclError('bad_file', `${path} is empty`)
  const { correct_count: correct, total_count: cases } = head
  if (cases - correct !== wrong.size)
    throw new BfclError(
      'bad_file',
      `${path}: ${correct} of ${cases} cases are right, but ${wrong.size} are listed as wrong`,
    )
  return { cases, wrong }
}

const id = z.string().min(1).max(200)
const caseLine = z.object({ id })
const answerLine = z.object({ id, result: z.unknown() })
const count = z.int().min(0).max(1_000_000)
const scoreHead = z.object({ correct_count: count, total_count: count })
const wrongLine = z.object({ id, valid: z.literal(false) })

/** Largest file that is read. BFCL logs every state of multi-turn cases. */
const MAX_FILE_BYTES = 2 ** 30

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await open(path)
  try {
    if ((await file.stat()).size > MAX_FILE_BYTES)
      throw new BfclError('bad_file', `${path} has more than ${MAX_FILE_BYTES} bytes`)
    for await (const line of file.readLines({ autoClose: false })) if (line.trim() !== '') yield line
  } finally {
    await file.close()
  }
}

function parse<T>(shape: z.ZodType<T>, line: string, path: string): T {
  const parsed = shape.safeParse(jsonOf(line))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new BfclError('bad_file', `${path}: ${issue!.path.join('.') || 'a line'}: ${issue!.message}`)
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
