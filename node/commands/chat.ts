import { createInterface } from 'node:readline'
import { styleText } from 'node:util'
import { type Command, InvalidArgumentError } from 'commander'
import { integerOption, stopSignal } from '../../common/cli/index.js'
import { EpisodeError } from '../../rollout/episode/index.js'
import {
  type ChatSession,
  type ChatSessionEvents,
  ConversationError,
  createChatSession,
} from '../../rollout/inference/index.js'
import { environmentNames, environmentsNamed, namesEnvironment } from '../../servers/catalogue.js'
import type { Environment } from '../../servers/kernel/index.js'
import { type ModelOptions, openNamedPolicy, withModelOptions } from './model-options.js'

interface ChatOptions extends ModelOptions {
  readonly environments: readonly string[]
  readonly tools?: ReadonlySet<string>
  readonly seed: number
  readonly temperature: number
}

/** Characters of a result on the screen. The policy receives the whole result. */
const SHOWN_CHARS = 400

/** Adds `prove-node chat`: a conversation with a policy that uses environments. */
export function addChatCommand(program: Command): void {
  withModelOptions(program.command('chat').description('Talk to an adapter that uses the tools of environments'))
    .requiredOption(
      '--environments <names>',
      'environments by name, or folders of your own such as ./library, whose code is run; comma-separated',
      environmentsOption,
    )
    .option(
      '--tools <names>',
      'offer only these tools, separated by commas',
      (text: string) => new Set(text.split(',')),
    )
    .option(
      '--seed <number>',
      'seed of random choices, of the environments and of the sampling',
      integerOption(0, 0xffff_ffff),
      0,
    )
    .option(
      '--temperature <number>',
      'sampling temperature; 0 takes the likeliest token, 1 samples from the policy',
      temperatureOption,
      1,
    )
    .action(async (folder: string | undefined, options: ChatOptions) => {
      const { signal: stop } = stopSignal()
      const environments = await environmentsNamed(options.environments)
      checkTools(environments, options)
      const policy = await openNamedPolicy(folder, options, 1, stop)
      try {
        const { seed, temperature, tools = null } = options
        const table = await createChatSession(policy, { environments, seed, tools, temperature, drawSeed: seed })
        try {
          const names = environments.map(({ name }) => name).join(', ')
          process.stderr.write(
            `${policy.name} with ${table.tools.length} tools of ${names}. /reset starts again, /quit ends.\n`,
          )
          await converse(table, stop)
        } finally {
          await table.close()
        }
      } finally {
        await policy.close()
      }
    })
}

/** Reads lines of stdin, one turn each, until its end, `/quit` or Ctrl-C. */
async function converse(table: ChatSession, stop: AbortSignal): Promise<void> {
  const isTyped = process.stdin.isTTY === true
  const lines = createInterface({
    input: process.stdin,
    output: isTyped ? process.stderr : undefined,
    prompt: '> ',
    terminal: isTyped,
  })
  const end = (): void => lines.close()
  stop.addEventListener('abort', end, { once: true })
  // On a terminal readline takes Ctrl-C for itself.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  if (isTyped) lines.prompt()
  for await (const line of lines) {
    if (stop.aborted) break
    const text = line.trim()
    if (text === '/quit') break
    if (text === '/reset') {
      await table.reset()
      process.stderr.write('the conversation starts again\n')
    } else if (text !== '') await turn(table, text, stop)
    if (stop.aborted) break
    if (isTyped) lines.prompt()
  }
  lines.close()
}

async function turn(table: ChatSession, text: string, stop: AbortSignal): Promise<void> {
  try {
    const outcome = await table.say(text, screen(), stop)
    if (outcome === 'cut') process.stderr.write('the context is full: /reset starts again\n')
    if (outcome === 'turn_limit')
      process.stderr.write('the policy made too many calls without an answer, and was stopped\n')
  } catch (error) {
    if (stop.aborted) return
    if (!(error instanceof ConversationError || error instanceof EpisodeError)) throw error
    const advice = error.code === 'context_full' ? '; offer fewer tools with --tools, or start again with /reset' : ''
    process.stderr.write(`${error.message}${advice}\n`)
  }
}

function screen(): ChatSessionEvents {
  let open = false
  const line = (text: string): void => void process.stdout.write(`${text}\n`)
  return {
    onText(text) {
      process.stdout.write(shown(text))
      open ||= text !== ''
    },
    onTurn() {
      if (open) process.stdout.write('\n')
      open = false
    },
    onCall: (call) =>
      line(
        styleText(
          'cyan',
          call.malformed
            ? `→ malformed call: ${shown(call.raw)}`
            : `→ ${call.name} ${shown(JSON.stringify(call.arguments))}`,
        ),
      ),
    onResult(text, ok) {
      const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}… (${text.length} characters)` : text
      line(styleText(ok ? 'dim' : 'red', `← ${shown(cut)}`))
    },
  }
}

/** Replaces control characters: the output of a model may contain commands for the terminal. */
const shown = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')

function environmentsOption(text: string): string[] {
  return [...new Set(text.split(','))].map((name) => {
    if (namesEnvironment(name)) return name
    throw new InvalidArgumentError(`There is no environment ${name}. Known ones: ${environmentNames().join(', ')}.`)
  })
}

function temperatureOption(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 10)) throw new InvalidArgumentError('Give a number from 0 to 10.')
  return value
}

function checkTools(environments: readonly Environment[], { tools }: ChatOptions): void {
  const stranger = [...(tools ?? [])].find(
    (name) => !environments.some((environment) => environment.toolsByName.has(name)),
  )
  if (stranger !== undefined)
    throw new ConversationError(
      'unknown_tool',
      `${environments.map(({ name }) => name).join(' and ')} do not have the tool ${stranger}`,
    )
}
