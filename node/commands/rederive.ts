import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { EXIT, integerOption } from '../../common/cli/index.js'
import { countOf } from '../../common/errors/index.js'
import { TrainerError } from '../../coordinator/jobs/errors.js'
import { defaultPython, trainerFolder } from '../../coordinator/jobs/python.js'
import { sealRederivation } from '../../proto/index.js'
import { openForeignTokenizer } from '../../rollout/engine/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { readKey } from '../../swarm/index.js'
import type { AdapterLibrary } from '../adapters/library.js'
import { runtimeFor } from '../policy/policy-runtime.js'
import { type PlayedScore, playScores } from '../rederivation/play-scores.js'
import { pulledVersions } from '../rederivation/pulled-versions.js'
import { rederiveVersion } from '../rederivation/rederive-version.js'
import { DoesNotFollow, type PassedCheck, type Rederivation } from '../rederivation/verdict.js'
import { NodeError } from '../report/errors.js'
import type { ChosenRun } from './chosen-run.js'
import { basePath } from './model-options.js'
import { type AskOptions, withLibrary } from './with-library.js'

interface RederiveOptions extends AskOptions {
  readonly step?: number
  readonly all: boolean
  readonly sample?: number
  readonly model?: string
  readonly python?: string
  readonly cuda: boolean
  readonly scores: boolean
  readonly report: boolean
  readonly threads: number
  readonly json: boolean
}

const MOST = 2 ** 31

/** Adds `prove-node adapters rederive`: makes published training steps again. The exit status is 1 if one does not follow. */
export function addRederiveCommand(command: Command): void {
  withEnvironmentFolders(command)
    .description(
      'Make published training steps again from their evidence, and report what does not follow (docs/use-a-model/verify-a-run.md)',
    )
    .addOption(
      new Option('--step <number>', 'this step; default: the newest')
        .argParser(integerOption(1, MOST))
        .conflicts(['all', 'sample']),
    )
    .addOption(new Option('--all', 'all of them, from the first step').default(false).conflicts('sample'))
    .addOption(new Option('--sample <number>', 'this many steps, chosen at random').argParser(integerOption(1, MOST)))
    .option('--model <gguf>', 'base model, of the run; default: the fetched one, or the one in this package')
    .option('--python <command>', 'Python to use, with the packages of the trainer; default: as for prove-coordinator')
    .option('--cuda', 'make the steps on a GPU', false)
    .option('--scores', 'play the held-out tasks again instead, and compare the published scores', false)
    .addOption(
      new Option('--threads <number>', 'CPU threads of each engine, for --scores')
        .argParser(integerOption(1, 512))
        .default(1),
    )
    .option('--report', 'sign the results with the key of your node, and send them to the coordinator', false)
    .option('--json', 'print JSON on stdout, one object per step', false)
    .action((run: ChosenRun, options: RederiveOptions) =>
      withLibrary(run, options, (library, signal, runId) => rederive(library, runId, options, signal)),
    )
}

async function rederive(
  library: AdapterLibrary,
  run: string,
  options: RederiveOptions,
  signal: AbortSignal,
): Promise<void> {
  const { dataDir, json, cuda, python = defaultPython() } = options
  const newest = await library.find(undefined, signal)
  const steps = options.scores ? [] : stepsOf(newest.manifest.version, options)
  const base = await basePath(newest.manifest.policy.base, options, signal)
  await mkdir(dataDir, { recursive: true })
  const folder = await mkdtemp(join(dataDir, 'rederivation-'))
  const tokenizer = await openForeignTokenizer(base)
  try {
    const environments = [...(await loadEnvironments()).values()]
    const pull = pulledVersions(library, join(folder, 'versions'))
    let isWhole = true
    const runtimeOf = (rules: { readonly toolCallFormat: string; readonly reward: string }) =>
      runtimeFor(rules, environments, tokenizer)
    if (options.scores) {
      const { version } = newest.manifest
      const machine = { base, threads: options.threads, gpu: cuda ? ('auto' as const) : (false as const) }
      for (const score of await playScores(version, { run, pull, runtimeOf, ...machine }, signal)) {
        process.stdout.write(json ? `${JSON.stringify(score)}\n` : `${scoreLine(score)}\n`)
        isWhole &&= score.agrees !== 'no'
      }
    }
    for (const step of steps) {
      const place = join(folder, `step-${step}`)
      const parts = {
        ...{ run, pull, python, packageFolder: trainerFolder, base, folder: place },
        device: cuda ? ('cuda' as const) : ('cpu' as const),
        runtimeOf,
        ...(json ? {} : { onCheck: (check: PassedCheck) => process.stderr.write(`  ${checkLine(check)}\n`) }),
      }
      if (!json) process.stderr.write(`step ${step} of ${run}\n`)
      const found = await rederiveVersion(step, parts, signal)
      process.stdout.write(json ? `${JSON.stringify(found)}\n` : `${verdictLine(found)}\n`)
      isWhole &&= found.follows
      if (options.report) await report(found, library, run, dataDir, signal)
      await rm(place, { recursive: true, force: true })
    }
    if (!isWhole) process.exitCode = EXIT.failed
  } catch (cause) {
    if (cause instanceof DoesNotFollow) throw new NodeError('no_such_version', cause.message, { cause })
    if (!(cause instanceof TrainerError)) throw cause
    throw new NodeError(
      'no_trainer',
      `the trainer cannot run with ${python}: ${cause.detail}. Install its packages with: prove-coordinator setup. Or name a Python that has them with --python`,
      { cause },
    )
  } finally {
    await tokenizer.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Sends a signed result. @throws NodeError `nothing_kept` without a key; TransportError, SwarmRefusal */
async function report(
  { version, manifestId, fault, difference }: Rederivation,
  library: AdapterLibrary,
  run: string,
  dataDir: string,
  signal: AbortSignal,
): Promise<void> {
  const identity = await readKey(dataDir)
  if (identity === null)
    throw new NodeError(
      'nothing_kept',
      `${dataDir} contains no key of a node: only volunteers can report. Leave out --report`,
    )
  const compared = difference !== null && Number.isFinite(difference) ? difference : null
  const statement = { version, manifestId, fault: fault?.check ?? null, difference: compared, madeAtMs: Date.now() }
  await library.report(await sealRederivation(identity.privateKey, run, statement), signal)
}

/** Returns the numbers of the steps to make. @throws NodeError `no_such_version` */
function stepsOf(newest: number, { step, all, sample }: RederiveOptions): number[] {
  if (newest === 0)
    throw new NodeError('no_such_version', 'the run has published version 0 only, which is no training step: try later')
  if (step !== undefined && step > newest)
    throw new NodeError('no_such_version', `the newest version is ${newest}, so step ${step} is not published yet`)
  if (all) return Array.from({ length: newest }, (_, i) => i + 1)
  if (sample === undefined) return [step ?? newest]
  const chosen = new Set<number>()
  while (chosen.size < Math.min(sample, newest)) chosen.add(randomInt(1, newest + 1))
  return [...chosen].sort((a, b) => a - b)
}

const scoreLine = ({ version, claimed, played, tasks, agrees }: PlayedScore): string =>
  `version ${version}: published ${claimed.mean.toFixed(4)} ± ${claimed.stderr.toFixed(4)}, played ${played.mean.toFixed(4)} on ${countOf(tasks, 'task')}: ${agrees === 'no' ? 'DOES NOT AGREE' : agrees}`

const checkLine = ({ check, detail }: PassedCheck): string => `${check.padEnd('publication'.length)}  ok  ${detail}`

/** Returns the verdict on a step in one line. */
export function verdictLine({ version, passed, fault, difference }: Rederivation): string {
  if (fault) return `step ${version} does not follow. The first thing that does not: ${fault.check}: ${fault.detail}`
  const share =
    difference === null || difference === 0 ? 'equal to the byte' : `${difference.toExponential(1)} of its norm apart`
  return `step ${version} follows from its evidence: ${countOf(passed.length, 'check')} passed, the update is ${share}`
}
