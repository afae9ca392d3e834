import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import envPaths from 'env-paths'
import { packageRoot } from '../../common/cli/index.js'
import { setUpPython } from '../../coordinator/jobs/python-setup.js'
import { hashFile } from '../../rollout/engine/index.js'
import { createProgress } from '../progress.js'
import {
  allCases,
  answersTo,
  BFCL,
  type BfclFolder,
  type Cases,
  ENTRY,
  generate,
  score,
  TEMPERATURE,
} from './bfcl-eval.js'
import { chooseCases } from './choose-cases.js'
import { BfclError } from './errors.js'
import type { BfclSummary, PolicyScores } from './report.js'
import { type ServedModel, withServedModel } from './served-model.js'

export interface BfclOptions {
  readonly model: string
  readonly adapter: readonly string[]
  readonly base: boolean
  readonly category: readonly string[]
  /** Most cases of each category; undefined: all. */
  readonly cases?: number
  readonly seed: number
  readonly context: number
  readonly maxTokens: number
  readonly toolCallFormat: string
  readonly threads: number
  readonly cpu: boolean
  /** Longest time without an answered case. */
  readonly caseMinutes: number
  readonly out: string
  /** Python with which the environment of BFCL is created. */
  readonly python?: string
  /** Folder of the environment of BFCL. */
  readonly environment: string
}

/** Versions of Python for which the pinned packages have builds: BFCL requires an old NumPy. */
const PYTHON = { oldest: [3, 11], newest: [3, 12] } as const
const PYTHONS = ['python3.12', 'python3.11', 'python3', 'python']

/** Default folder of BFCL's Python environment: in `.cache` of a checkout, otherwise in the user's cache. */
export const defaultEnvironment = join(
  existsSync(join(packageRoot, '.git')) ? join(packageRoot, '.cache') : envPaths('prove-lab', { suffix: '' }).cache,
  `${BFCL.package}-${BFCL.version}`,
)

/** A policy to measure. */
interface Policy {
  readonly label: string
  readonly served: ServedModel
  readonly folder: string
  readonly sha256: string
}

/**
 * Lets BFCL ask and score the base model and its adapters, one after the other. Answers are kept in a folder of each policy, and the same
 * command continues with the missing ones.
 * @throws BfclError, TrainerError `no_python`, the system's error if a file cannot be read
 */
export async function runBfcl(options: BfclOptions, signal: AbortSignal): Promise<BfclSummary> {
  const say = (text: string): void => void process.stderr.write(`prove-lab: ${text}\n`)
  const policies = await policiesOf(options, signal)
  const python = await setUpPython({
    folder: options.environment,
    requirements: [join(packageRoot, 'lab', 'bfcl', 'requirements.txt')],
    candidates: options.python === undefined ? PYTHONS : [options.python],
    supported: PYTHON,
    contents: `${BFCL.package} ${BFCL.version} and what it imports, some 400 MB`,
    complete: true,
    onStep: say,
    signal,
  })
  const cases = new Map<string, readonly string[]>()
  const all: Record<string, number> = {}
  for (const category of options.category) {
    const ids = await allCases({ python }, category)
    all[category] = ids.length
    cases.set(category, chooseCases(ids, options.cases, options.seed))
  }
  const scores: PolicyScores[] = []
  for (const policy of policies) {
    await mkdir(policy.folder, { recursive: true })
    const bfcl = { python, folder: policy.folder }
    if ((await answered(bfcl, cases)) < totalOf(cases)) {
      say(`${policy.label}: ${totalOf(cases)} cases, answers in ${policy.folder}`)
      await ask(policy, bfcl, cases, options, signal)
    }
    scores.push(await scoresOf(policy, bfcl, cases, signal))
  }
  const { seed, context, maxTokens, toolCallFormat } = options
  const settings = { seed, context, maxTokens, toolCallFormat, temperature: TEMPERATURE }
  return { package: BFCL.package, version: BFCL.version, entry: ENTRY, settings, all, policies: scores }
}

async function ask(
  policy: Policy,
  bfcl: BfclFolder,
  cases: Cases,
  options: BfclOptions,
  stop: AbortSignal,
): Promise<void> {
  const progress = createProgress('cases')
  const total = totalOf(cases)
  let counting: Promise<void> | undefined
  const onAnswer = (): void => {
    counting ??= answered(bfcl, cases)
      .then((count) => progress(count, total))
      .finally(() => {
        counting = undefined
      })
  }
  onAnswer()
  await withServedModel(
    policy.served,
    (url, signal) => generate(bfcl, cases, { url, stallMs: 60_000 * options.caseMinutes, onAnswer }, signal),
    stop,
  )
  await counting
}

async function scoresOf(policy: Policy, bfcl: BfclFolder, cases: Cases, signal: AbortSignal): Promise<PolicyScores> {
  const found = await score(bfcl, cases, signal)
  const categories: PolicyScores['categories'][number][] = []
  for (const [category, ids] of cases) {
    const { wrong } = found.get(category)!
    const errors = (await answersTo(bfcl, category, ids)).flatMap(({ error }) => (error === null ? [] : [error])).length
    categories.push({ category, cases: ids.length, right: ids.filter((id) => !wrong.has(id)), errors })
  }
  return { label: policy.label, sha256: policy.sha256, categories }
}

const totalOf = (cases: Cases): number => [...cases.values()].reduce((sum, ids) => sum + ids.length, 0)

async function answered(bfcl: Pick<BfclFolder, 'folder'>, cases: Cases): Promise<number> {
  let sum = 0
  for (const [category, ids] of cases) sum += (await answersTo(bfcl, category, ids)).length
  return sum
}

/** The folder of a policy contains the hash of everything that changes its answers. */
async function policiesOf(options: BfclOptions, signal: AbortSignal): Promise<Policy[]> {
  const {
    model: modelPath,
    adapter,
    base,
    context: contextSize,
    maxTokens,
    toolCallFormat,
    threads,
    cpu,
    out,
  } = options
  if (maxTokens >= contextSize)
    throw new BfclError(
      'bad_options',
      `--max-tokens ${maxTokens} leaves no context for a prompt: give less than --context ${contextSize}`,
    )
  if (!base && adapter.length === 0)
    throw new BfclError('bad_options', '--no-base leaves out the base model: give an --adapter, or remove --no-base')
  const baseSha256 = await hashFile(modelPath, signal)
  const policies: Policy[] = []
  for (const adapterPath of [...(base ? [null] : []), ...adapter]) {
    const sha256 = adapterPath === null ? baseSha256 : await hashFile(adapterPath, signal)
    const name = adapterPath === null ? 'base' : basename(adapterPath).replace(/\.gguf$/, '')
    const label = policies.some((other) => other.label === name) ? `${name}-${sha256.slice(0, 8)}` : name
    const identity = {
      ...{ version: BFCL.version, entry: ENTRY, baseSha256, sha256, contextSize, maxTokens },
      toolCallFormat,
    }
    const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 12)
    policies.push({
      ...{ label, sha256, folder: join(out, `${label}-${key}`) },
      served: {
        ...{ modelPath, adapterPath, name: ENTRY, toolCallFormat, contextSize, maxTokens, threads },
        gpu: !cpu,
      },
    })
  }
  return policies
}
