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
import { proposedFields, type RunProposal } from '../settings/proposed-run.js'
import { runFileText } from '../settings/run-file.js'
import { readTaskSet } from '../settings/task-set.js'
import { askForRun, type RunAnswers } from './ask-for-run.js'

const FILE = 'run.yaml'
/** Value of `--base` for the model that comes with the package. */
const DEMO = 'demo'
const DEMO_BASE = join(packageRoot, 'models', 'demo', 'prove-demo-base-f16.gguf')
/** Calibration of the demo model, for CPUs. */
const DEMO_CALIBRATION = join(packageRoot, 'models', 'demo', 'calibration-f16.json')
/** Options for tasks with the words that the demo model has learnt. */
const DEMO_TASKS = '--profile demo --environments banking,calendar,email,issue_tracker,iot_devices --examples 2000'

export function addInitCommand(program: Command): void {
  withEnvironmentFolders(program.command('init'))
    .description(`Write a commented ${FILE} for a new run, from questions on the terminal or from options`)
    .argument('[folder]', 'folder to write it into', '.')
    .option('--base <gguf>', `base model, a GGUF file; ${DEMO}: the small model that comes with this package`)
    .option('--dataset <folder>', 'data set of prove-lab synthesize; you can make it later', 'tasks')
    .option('--data-dir <folder>', 'folder for all data of the coordinator', 'data')
    .option('--name <name>', 'name of the base model; default: the name in its file')
    .option('--operator <words>', 'who operates the run, shown in invitations', '')
    .option('--purpose <words>', 'purpose of the run, shown in invitations', '')
    .option('--port <number>', 'TCP port for volunteers', port, 4001)
    .option('--announce <address...>', 'addresses at which volunteers reach the run, if they differ from its own', [])
    .option('--calibration <file...>', 'files of prove-lab calibrate; without one, groups are not audited', [])
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
    throw new ConfigError(`${file} exists already and was not changed. Edit it, remove it, or name another folder.`)
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
  const proposal = proposalOf(answers, { folder, path, facts })
  const hasDataset = existsSync(join(proposal.dataset, 'manifest.json'))
  const prompt = hasDataset ? await promptTokens(proposal.dataset, path) : null
  const text = runFileText(proposedFields(proposal, { facts, folder, prompt }))
  const config = parseConfig(text, file)
  await mkdir(folder, { recursive: true })
  await writeFile(file, text, { flag: 'wx' })
  process.stdout.write(`${nextSteps(file, config, { hasDataset })}\n`)
}

function proposalOf(
  answers: RunAnswers,
  { folder, path, facts }: { readonly folder: string; readonly path: string; readonly facts: ModelFacts },
): RunProposal {
  const { operator, purpose, port, announce, calibration } = answers
  const own = path === DEMO_BASE ? [DEMO_CALIBRATION] : []
  return {
    ...{ base: path, operator, purpose, port, announce },
    dataset: resolve(folder, answers.dataset),
    environments: answers.environments.map((one) => resolve(one)),
    dataDir: resolve(folder, answers.dataDir),
    name: answers.name ?? facts.name ?? basename(path, '.gguf'),
    calibrations: calibration.length > 0 ? calibration.map((one) => resolve(one)) : own,
  }
}

/** Returns the commands that the user has to type next. */
function nextSteps(
  file: string,
  { base, tasks, audit, limits }: RunConfig,
  { hasDataset }: { readonly hasDataset: boolean },
): string {
  const shown = (path: string): string => relative(process.cwd(), path)
  const [model, dataset] = [shown(base.path), shown(tasks.dataset)]
  const calibration = `prove-lab calibrate --model ${model} --dataset ${dataset} --out calibration.json`
  const steps: [command: string, why: string][] = [
    [`prove-lab synthesize --out ${dataset}${base.path === DEMO_BASE ? ` ${DEMO_TASKS}` : ''}`, 'makes the tasks'],
    [calibration, `takes hours; then name its file in ${FILE}. Without it, admit only people you trust`],
    ['prove-coordinator setup', "installs the trainer's Python packages"],
    [
      `prove-coordinator start --config ${shown(file)}`,
      'first plays some tasks, and warns if the run looks like it would learn nothing',
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
    `${shown(file)} is written and valid. Check it, then run:`,
    '',
    ...steps.filter((_, i) => isDue[i]).flatMap(([command, why]) => [`  # ${why}`, `  ${command}`]),
    '',
    ...context,
  ]
    .join('\n')
    .trimEnd()
}

const baseFile = (base: string): string => (base === DEMO ? DEMO_BASE : resolve(base))

/** Reads the facts of a base model. @throws ConfigError for a model that cannot be trained */
function factsOf(path: string): ModelFacts {
  const facts = readModelFacts(path)
  if (!TRAINED_ARCHITECTURES.includes(facts.architecture))
    throw new ConfigError(
      `${path}: the trainer supports the architectures ${TRAINED_ARCHITECTURES.join(', ')}, and this model is ${facts.architecture}: choose another model`,
    )
  return facts
}

/** Architectures of prove_trainer/architectures.py. */
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
