import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { integerOption, type Price, priceOption, saidTokens } from '../../../common/cli/index.js'
import { countOf } from '../../../common/errors/index.js'
import type { Source } from '../../../rollout/chat/index.js'
import { USER_CONTEXT } from './limits.js'
import type { UserSimulator } from './user-simulator.js'

export interface UserOptions {
  readonly userSimulator?: string
  readonly userSimulatorName?: string
  readonly userSimulatorModel?: string
  readonly userSimulatorRequests: number
  readonly userSimulatorTokens: number
  readonly userSimulatorPrice?: Price
}

/** `--user-simulator`, `--user-simulator-model` and what goes with them: a language model that hears what the users of tasks are asked. */
export const withUserOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--user-simulator <url>',
        'a server with OpenAI’s chat completions hears what users are asked; default: embedded rules',
      ).conflicts('userSimulatorModel'),
    )
    .option('--user-simulator-name <model>', 'model of that server; default: the first that it lists')
    .option('--user-simulator-model <gguf>', 'a model file hears it, in this process')
    .option('--user-simulator-requests <number>', 'requests it may take', integerOption(1, 100_000_000), 50_000)
    .option(
      '--user-simulator-tokens <number>',
      'tokens it may take, prompts included',
      integerOption(1, 2 ** 40),
      100_000_000,
    )
    .option('--user-simulator-price <prompt,reply>', 'what a million tokens cost, to show what was spent', priceOption)

/**
 * The language model that the options name; none unless they do. OPENAI_API_KEY is its key.
 * @param say  a line for people
 * @throws ChatError; the signal's reason when it aborts
 */
export async function userSimulatorFor(
  { userSimulator, userSimulatorName, userSimulatorModel, userSimulatorRequests, userSimulatorTokens }: UserOptions,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<UserSimulator | undefined> {
  const source = sourceOf(userSimulator, userSimulatorName, userSimulatorModel)
  if (!source) return undefined
  // Only here: who plays by the rules alone need not wait for an engine and a client to load.
  const { openUserSimulator } = await import('./user-simulator.js')
  let isSaid = false
  const model = await openUserSimulator(
    {
      source,
      budget: { requests: userSimulatorRequests, tokens: userSimulatorTokens },
      onProblems(problems) {
        if (isSaid) return
        isSaid = true
        say(
          `the user model gave no decision (${problems.join(', ')}): the rules made it, and its episode's record says so`,
        )
      },
    },
    signal,
  )
  say(`${model.name} hears what users are asked`)
  return model
}

function sourceOf(url: string | undefined, model: string | undefined, file: string | undefined): Source | undefined {
  if (file !== undefined) {
    const threads = availableParallelism()
    return { kind: 'file', modelPath: resolve(file), threads, gpu: 'auto', contextSize: USER_CONTEXT }
  }
  if (url === undefined) return undefined
  return { kind: 'server', url, ...(model === undefined ? {} : { model }), apiKey: process.env.OPENAI_API_KEY }
}

/** `qwen heard 120 messages: 80 asked what was due, 35 did not, 5 the rules heard in its place {"timeout":10}; 130 requests, 40,000 + 1,200 tokens`. */
export function userSimulatorSummary(model: UserSimulator, price: Price | undefined): string {
  const { model: name, messages, asked, byRules, requests, problems, ...tokens } = model.report()
  const trouble = byRules === 0 ? '' : `, ${byRules} the rules heard in its place`
  const why = Object.keys(problems).length === 0 ? '' : ` ${JSON.stringify(problems)}`
  return `${name} heard ${countOf(messages, 'message')}: ${asked} asked what was due, ${messages - asked - byRules} did not${trouble}${why}; ${countOf(requests, 'request')}, ${saidTokens(tokens, price)}`
}
