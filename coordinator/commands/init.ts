import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { packageRoot } from '../../common/cli/index.js'
import { type ModelFacts, openTokenizer, readModelFacts } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, DEFAULT_LIMITS, DEFAULT_RULES, rulesNamed } from '../../rollout/episode/index.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { defaultPython } from '../jobs/python.js'
import { ConfigError, parseConfig, type RunConfig } from '../settings/config.js'
import { longestPrompt } from '../settings/first-prompts.js'
import { proposedFields, type RunWishes } from '../settings/proposed-run.js'
import { runFileText } from '../settings/run-file.js'
import { readTaskSet } from '../settings/task-set.js'
import { askForRun, type RunAnswers } from './ask-for-run.js'

const FILE = 'run.yaml'
/** Stands for the model that comes with the package, in place of a path. */
const DEMO = 'demo'
const DEMO_BASE = join(packageRoot, 'models', 'demo', 'prove-demo-base-f16.gguf')
/** On a CPU, and on an NVIDIA GPU by CUDA. */
const DEMO_CALIBRATIONS = ['calibration-f16.json', 'calibration-f16-cuda.json'].map((name) =>
  join(packageRoot, 'models', 'demo', name),
)
/** What the demo model has learnt the words of. */
const DEMO_TASKS = '--profile demo --environments banking,calendar,email,issue_tracker --examples 2000'

export function addInitCommand(program: Command): void {
  withEnvironmentFolders(program.command('init'))
    .description(`Write a commented ${FILE} for a new run, by questions on a terminal or by these options`)
    .argument('[folder]', 'where it goes', '.')
    .option('--base <gguf>', `base model, a GGUF file; ${DEMO}: the small one that comes with this package`)
    .option('--dataset <folder>', 'data set of prove-lab synthesize; it can be made later', 'tasks')
    .option('--data-dir <folder>', 'where the coordinator keeps everything', 'data')
    .option('--name <name>', 'name of the base model; default: what its file says')
    .option('--operator <words>', 'who runs the run, for its invitations', '')
    .option('--purpose <words>', 'what it is for, likewise', '')
    .option('--port <number>', 'where it listens for volunteers', port, 4001)
    .option('--announce <address...>', 'where volunteers reach it, if not where it listens', [])
    .option('--calibration <file...>', 'files of prove-lab calibrate: without any, work is not audited', [])
    .option('--yes', 'ask nothing', false)
    .action(init)
}

function port(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Give an integer from 0 to 65535.')
  return value
}

async function init(target: string, options: RunAnswers & { readonly yes: boolean }): Promise<void> {
  const folder = resolve(target)
  const file = join(folder, FILE)
  if (existsSync(file))
    throw new ConfigError(
      `${file} is there already, and stays as it is. Change it by hand, remove it, or name another folder.`,
    )
  const isAsked = !options.yes && process.stdin.isTTY === true && process.stdout.isTTY === true
  const answers = isAsked ? await askForRun(options, { isModel: (base) => factsOf(baseFile(base)) }) : options
  if (answers === null) {
    process.exitCode = 130
    return
  }
  const { base } = answers
  if (base === undefined) throw new ConfigError(`init: give --base, a GGUF file, or --base ${DEMO}`)
  const path = baseFile(base)
  const facts = factsOf(path)
  const wishes = wishesOf(answers, { folder, path, facts })
  const hasDataset = existsSync(join(wishes.dataset, 'manifest.json'))
  const prompt = hasDataset ? await promptTokens(wishes.dataset, path) : null
  const text = runFileText(proposedFields(wishes, { facts, folder, prompt }))
  const config = parseConfig(text, file)
  await mkdir(folder, { recursive: true })
  await writeFile(file, text, { flag: 'wx' })
  process.stdout.write(`${nextSteps(file, config, { hasDataset })}\n`)
}

function wishesOf(
  answers: RunAnswers,
  { folder, path, facts }: { readonly folder: string; readonly path: string; readonly facts: ModelFacts },
): RunWishes {
  const { operator, purpose, port, announce, calibration } = answers
  const own = path === DEMO_BASE ? DEMO_CALIBRATIONS : []
  return {
    ...{ base: path, operator, purpose, port, announce },
    dataset: resolve(folder, answers.dataset),
    environments: answers.environments.map((one) => resolve(one)),
    dataDir: resolve(folder, answers.dataDir),
    name: answers.name ?? facts.name ?? basename(path, '.gguf'),
    calibrations: calibration.length > 0 ? calibration.map((one) => resolve(one)) : own,
  }
}

/** What there is to be typed from here on. */
function nextSteps(
  file: string,
  { base, tasks, audit, limits }: RunConfig,
  { hasDataset }: { readonly hasDataset: boolean },
): string {
  const shown = (path: string): string => relative(process.cwd(), path)
  const [model, dataset] = [shown(base.path), shown(tasks.dataset)]
  const calibration = `prove-lab calibrate --model ${model} --dataset ${dataset} --out calibration.json`
  const steps: [command: string, why: string][] = [
    [`prove-lab synthesize --out ${dataset}${base.path === DEMO_BASE ? ` ${DEMO_TASKS}` : ''}`, 'the tasks'],
    [calibration, `hours; name its file in ${FILE}. Without it take in only people you trust`],
    ['prove-coordinator setup', "the trainer's Python packages"],
    [
      `prove-coordinator start --config ${shown(file)}`,
      'plays some tasks first, and says if this looks like a run that learns nothing',
    ],
  ]
  const isDue = [!hasDataset, audit.calibrations.length === 0, defaultPython() === 'python3', true]
  const context =
    limits.maxRolloutTokens > DEFAULT_LIMITS.maxRolloutTokens
      ? [
          `Rollouts have up to ${limits.maxRolloutTokens} tokens: volunteers join with --context ${limits.maxRolloutTokens}.`,
          '',
        ]
      : []
  return [
    `${shown(file)} is written and checked. Look through it, then:`,
    '',
    ...steps.filter((_, i) => isDue[i]).flatMap(([command, why]) => [`  # ${why}`, `  ${command}`]),
    '',
    ...context,
  ]
    .join('\n')
    .trimEnd()
}

const baseFile = (base: string): string => (base === DEMO ? DEMO_BASE : resolve(base))

/** @throws ConfigError for a model that no run can have */
function factsOf(path: string): ModelFacts {
  const facts = readModelFacts(path)
  if (!TRAINED_ARCHITECTURES.includes(facts.architecture))
    throw new ConfigError(
      `${path}: the trainer knows models of the architecture ${TRAINED_ARCHITECTURES.join(', ')}, and this is ${facts.architecture}`,
    )
  return facts
}

/** Of prove_trainer/architectures.py. */
const TRAINED_ARCHITECTURES = ['qwen3', 'qwen2', 'granite']

async function promptTokens(dataset: string, base: string): Promise<number> {
  const { tasks, environments } = await readTaskSet(dataset, 'train')
  const tokenizer = await openTokenizer(base)
  try {
    return longestPrompt(tasks, createEpisodeRuntime(environments, tokenizer, rulesNamed(DEFAULT_RULES)))
  } finally {
    await tokenizer.close()
  }
}
