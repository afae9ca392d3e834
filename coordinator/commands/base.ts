import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { interruptible } from '../../common/cli/index.js'
import { estimateMemory, openTokenizer } from '../../rollout/engine/index.js'
import { type FormatFit, toolCallFormatNamed } from '../../rollout/episode/index.js'
import { type PreparedBase, prepareBase } from '../jobs/prepare-base.js'
import { defaultPython, trainerFolder } from '../jobs/python.js'
import { readBase } from '../settings/base-facts.js'
import {
  fittingFormats,
  readTemplate,
  requireBaseFormat,
  templateFile,
  templateNames,
} from '../settings/base-format.js'
import { ConfigError } from '../settings/config.js'
import { proposedLimits } from '../settings/proposed-run.js'
import { baseReport, type FoundBase } from './base-report.js'

interface BaseOptions {
  readonly out?: string
  readonly keep: boolean
  readonly chatTemplate?: string
  readonly toolCallFormat?: string
  readonly python?: string
  readonly json: boolean
}

/** Rollouts of a group by default. */
const GROUP_SIZE = 8

/** Adds `prove-coordinator base`, which makes a published model file the base of a run. */
export function addBaseCommand(program: Command): void {
  program
    .command('base')
    .description('Examine a published model file, and write it as the base of a run')
    .argument('<gguf>', 'model file as published')
    .option('--out <gguf>', 'where to write the result; without it, the model is only examined')
    .option('--keep', 'keep the types of the weights, instead of float16', false)
    .addOption(
      new Option(
        '--chat-template <name>',
        `chat template, in place of the file's: ${templateNames().join(', ')}, or a Jinja file`,
      ),
    )
    .option('--tool-call-format <name>', 'how the model writes tool calls; default: the recommended format that fits')
    .option(
      '--python <command>',
      "Python to use, with the trainer's packages; default: that of prove-coordinator setup",
    )
    .option('--json', 'print JSON on stdout', false)
    .action(base)
}

async function base(file: string, options: BaseOptions): Promise<void> {
  const source = resolve(file)
  const out = options.out === undefined ? null : resolve(options.out)
  if (out === null && (options.keep || options.chatTemplate !== undefined))
    throw new ConfigError('base: --keep and --chat-template are for a new file: name it with --out')
  if (out !== null) checkOut(source, out)
  const template = options.chatTemplate === undefined ? undefined : templateFile(options.chatTemplate)
  const facts = readBase(source, 'optional')
  // Without a template no format fits, and the error says what to do.
  const none = facts.hasTemplate ? undefined : ''
  const tokenizer = await openTokenizer(source, template === undefined ? none : readTemplate(template))
  let formats: readonly [FormatFit, ...FormatFit[]]
  let specialTokens: string[]
  try {
    if (options.toolCallFormat !== undefined) {
      toolCallFormatNamed(options.toolCallFormat)
      requireBaseFormat(tokenizer, { path: source, toolCallFormat: options.toolCallFormat })
    }
    formats = inOrder(fittingFormats(tokenizer, source), options.toolCallFormat)
    specialTokens = [...facts.specialTokens].map(([role, id]) => `${role} ${id} ${tokenizer.detokenize([id])}`)
  } finally {
    await tokenizer.close()
  }
  const prepared = await prepare({ source, out, template, options })
  const path = out ?? source
  const contextSize = Math.min(facts.context, proposedLimits(facts.parameters, null).maxRolloutTokens)
  const memory = {
    contextSize,
    oneSlot: await estimateMemory({ modelPath: path, contextSize, slots: 1 }),
    group: await estimateMemory({ modelPath: path, contextSize, slots: GROUP_SIZE }),
    groupSize: GROUP_SIZE,
  }
  const written = readBase(path)
  const found = {
    path,
    facts: written,
    formats,
    specialTokens,
    prepared,
    memory,
    template: options.chatTemplate ?? null,
  }
  process.stdout.write(options.json ? `${JSON.stringify(jsonOf(found))}\n` : baseReport(found))
}

const jsonOf = ({ facts, ...found }: FoundBase): object => ({
  ...found,
  facts: { ...facts, specialTokens: Object.fromEntries(facts.specialTokens) },
})

function checkOut(source: string, out: string): void {
  if (existsSync(out)) {
    const isSame = existsSync(source) && realpathSync(out) === realpathSync(source)
    throw new ConfigError(
      isSame
        ? `--out ${out} is the published file itself: name another file`
        : `${out} exists already and was not changed: remove it, or name another file`,
    )
  }
  const folder = dirname(out)
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new ConfigError(`--out ${out}: there is no folder ${folder}: make it first`)
}

/** Puts the format that the user asked for first. */
function inOrder(
  formats: readonly [FormatFit, ...FormatFit[]],
  wanted: string | undefined,
): readonly [FormatFit, ...FormatFit[]] {
  const asked = formats.find(({ name }) => name === wanted)
  return asked ? [asked, ...formats.filter((one) => one !== asked)] : formats
}

async function prepare({
  source,
  out,
  template,
  options,
}: {
  readonly source: string
  readonly out: string | null
  readonly template: string | undefined
  readonly options: BaseOptions
}): Promise<PreparedBase> {
  const isShown = process.stderr.isTTY === true
  return interruptible('nothing was written', (signal) =>
    prepareBase(
      {
        ...{ source, out, packageFolder: trainerFolder },
        python: options.python ?? defaultPython(),
        kind: options.keep ? 'keep' : 'f16',
        ...(template === undefined ? {} : { template }),
        onProgress: (done, of) => {
          if (isShown) process.stderr.write(`\r${done} of ${of} tensors${done === of ? '\n' : ''}`)
        },
      },
      signal,
    ),
  )
}
