import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { EXIT, packageRoot, RUN_FILE } from '../../common/cli/index.js'
import { openTokenizer, type Tokenizer } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, DEFAULT_LIMITS, DEFAULT_RULES, rulesNamed } from '../../rollout/episode/index.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { defaultPython } from '../jobs/python.js'
import { type BaseFacts, readBase } from '../settings/base-facts.js'
import { fittingFormats } from '../settings/base-format.js'
import { ConfigError, parseConfig, type RunConfig } from '../settings/config.js'
import { longestPrompt } from '../settings/first-prompts.js'
import { proposedFields, type RunProposal } from '../settings/proposed-run.js'
import { runFileText } from '../settings/run-file.js'
import { readTaskSet } from '../settings/task-set.js'
import { askForRun, type RunAnswers } from './ask-for-run.js'

/** Value of `--base` for the model that comes with the package. */
const DEMO = 'demo'
const DEMO_BASE = join(packageRoot, 'models', 'demo', 'prove-demo-base-f16.gguf')
/** Calibration of the demo model, for CPUs. */
const DEMO_CALIBRATION = join(packageRoot, 'models', 'demo', 'calibration-f16.json')
/** Options for tasks with the words that the demo model has learnt. */
const DEMO_TASKS =
  '--profile demo --environments banking,calendar,email,issue_tracker,iot_devices,social_media --examples 2000'

export function addInitCommand(program: Command): void {
  withEnvironmentFolders(program.command('init'))
    .description(`Write a commented ${RUN_FILE}, from questions on the terminal or from options`)
    .argument('[folder]', 'folder to write it into', '.')
    .option('--model <gguf>', `base model; ${DEMO}: the small model that comes with this package`)
    .option('--dataset <folder>', 'data set, of prove-lab synthesize; you can make it later', 'tasks')
    .option('--data-dir <folder>', 'data folder of the program', 'data')
    .option('--model-name <name>', 'name of the model for others; default: the name in its file')
    .option('--operator <words>', 'who operates the run, shown in invitations', '')
    .option('--purpose <words>', 'purpose of the run, shown in invitations', '')
    .option('--port <number>', 'port to listen on, for volunteers', port, 4001)
    .option('--announce <address...>', 'addresses at which others reach this machine, if they differ from its own', [])
    .option('--calibration <file...>', 'calibration of prove-lab calibrate; without one, groups are not audited', [])
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
  const file = join(folder, RUN_FILE)
  if (existsSync(file))
    throw new ConfigError(`${file} exists already and was not changed. Edit it, remove it, or name another folder.`)
  const isAsked = !options.yes && process.stdin.isTTY === true && process.stdout.isTTY === true
  const answers = isAsked ? await askForRun(options, { isModel: (base) => readBase(baseFile(base)) }) : options
  if (answers === null) {
    process.exitCode = EXIT.interrupted
    return
  }
  const { model: base } = answers
  if (base === undefined) throw new ConfigError(`init: give --model, a GGUF file, or --model ${DEMO}`)
  const path = baseFile(base)
  const facts = readBase(path, 'optional')
  const proposal = proposalOf(answers, { folder, path, facts })
  const hasDataset = existsSync(join(proposal.dataset, 'manifest.json'))
  const { toolCallFormat, prompt } = await examine(path, facts, hasDataset ? proposal.dataset : null)
  const text = runFileText(proposedFields(proposal, { facts, folder, prompt, toolCallFormat }))
  const config = parseConfig(text, file)
  await mkdir(folder, { recursive: true })
  await writeFile(file, text, { flag: 'wx' })
  process.stdout.write(`${nextSteps(file, config, { hasDataset, facts })}\n`)
}

function proposalOf(
  answers: RunAnswers,
  { folder, path, facts }: { readonly folder: string; readonly path: string; readonly facts: BaseFacts },
): RunProposal {
  const { operator, purpose, port, announce, calibration } = answers
  const own = path === DEMO_BASE ? [DEMO_CALIBRATION] : []
  return {
    ...{ base: path, operator, purpose, port, announce },
    dataset: resolve(folder, answers.dataset),
    environments: answers.environments.map((one) => resolve(one)),
    dataDir: resolve(folder, answers.dataDir),
    name: answers.modelName ?? facts.name ?? basename(path, '.gguf'),
    calibrations: calibration.length > 0 ? calibration.map((one) => resolve(one)) : own,
  }
}

/** Returns the commands that the user has to type next. */
function nextSteps(
  file: string,
  { base, tasks, audit, limits }: RunConfig,
  { hasDataset, facts }: { readonly hasDataset: boolean; readonly facts: BaseFacts },
): string {
  const shown = (path: string): string => relative(process.cwd(), path)
  const [model, dataset] = [shown(base.path), shown(tasks.dataset[0]!)]
  const calibration = `prove-lab calibrate --model ${model} --dataset ${dataset} --out calibration.json`
  const steps: [command: string, why: string][] = [
    [`prove-lab synthesize --out ${dataset}${base.path === DEMO_BASE ? ` ${DEMO_TASKS}` : ''}`, 'makes the tasks'],
    [calibration, `takes hours; then name its file in ${RUN_FILE}. Without it, admit only people you trust`],
    ['prove-coordinator setup', "installs the trainer's Python packages"],
    [
      `prove-coordinator start${shown(file) === RUN_FILE ? '' : ` --config ${shown(file)}`}`,
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
  const quantised =
    facts.quantisation === null || ['f16', 'f32', 'bf16'].includes(facts.quantisation)
      ? []
      : [
          `The base is stored as ${facts.quantisation}: its log-probabilities are less exact, and it cannot be merged. For float16:`,
          `  prove-coordinator base ${model} --out ${model.replace(/\.gguf$/, '')}-f16.gguf`,
          '',
        ]
  return [
    `${shown(file)} is written and valid. Check it, then run:`,
    '',
    ...steps.filter((_, i) => isDue[i]).flatMap(([command, why]) => [`  # ${why}`, `  ${command}`]),
    '',
    ...context,
    ...quantised,
  ]
    .join('\n')
    .trimEnd()
}

const baseFile = (base: string): string => (base === DEMO ? DEMO_BASE : resolve(base))

/** Results of rendered prompts: the tool-call format of a base, and the longest first prompt of a data set, in tokens. */
async function examine(
  base: string,
  { hasTemplate }: BaseFacts,
  dataset: string | null,
): Promise<{ readonly toolCallFormat: string; readonly prompt: number | null }> {
  // Without a template no format fits, and the error says what to do.
  const tokenizer = await openTokenizer(base, hasTemplate ? undefined : '')
  try {
    const [{ name: toolCallFormat }] = fittingFormats(tokenizer, base)
    return { toolCallFormat, prompt: dataset === null ? null : await promptTokens(dataset, tokenizer, toolCallFormat) }
  } finally {
    await tokenizer.close()
  }
}

async function promptTokens(dataset: string, tokenizer: Tokenizer, toolCallFormat: string): Promise<number> {
  const { tasks, environments } = await readTaskSet([dataset], 'train')
  const rules = rulesNamed({ ...DEFAULT_RULES, toolCallFormat })
  return longestPrompt(tasks, createEpisodeRuntime(environments, tokenizer, rules))
}
