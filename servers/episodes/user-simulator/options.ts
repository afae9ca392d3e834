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

/** Adds the options of a user simulator: a language model that decides whether a message asks the user for the missing value. */
export const withUserOptions = (command: Command): Command =>
  command
    .optionsGroup('User simulator:')
    .addOption(
      new Option(
        '--user-simulator <url>',
        'OpenAI-compatible server whose model decides what a message asks the user; default: embedded rules',
      ).conflicts('userSimulatorModel'),
    )
    .option('--user-simulator-name <model>', "name of the server's model; default: the first that the server lists")
    .option('--user-simulator-model <gguf>', 'model file for the same purpose, run in this process')
    .option('--user-simulator-requests <number>', 'most requests to the model', integerOption(1, 100_000_000), 50_000)
    .option(
      '--user-simulator-tokens <number>',
      'most tokens of the model, including prompts',
      integerOption(1, 2 ** 40),
      100_000_000,
    )
    .option('--user-simulator-price <prompt,reply>', 'price per million tokens, to print the cost', priceOption)
    .optionsGroup('')

/**
 * Opens the user simulator that the options name. The API key is OPENAI_API_KEY.
 * @param say  prints a line
 * @returns  undefined if the options name none
 * @throws ChatError; the signal's reason when it aborts
 */
export async function userSimulatorFor(
  { userSimulator, userSimulatorName, userSimulatorModel, userSimulatorRequests, userSimulatorTokens }: UserOptions,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<UserSimulator | undefined> {
  const source = sourceOf(userSimulator, userSimulatorName, userSimulatorModel)
  if (!source) return undefined
  // Loaded here because the embedded rules need no engine and no client.
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
          `the user simulator gave no decision (${problems.join(', ')}): the embedded rules decided, and the episode's record contains the reason`,
        )
      },
    },
    signal,
  )
  say(`user simulator: ${model.name}`)
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

/** Returns `user simulator qwen: 120 messages, 80 with the due question, 35 without, 5 decided by rules {"timeout":10}; 130 requests, 40,000 + 1,200 tokens`. */
export function userSimulatorSummary(model: UserSimulator, price: Price | undefined): string {
  const { model: name, messages, asked, byRules, requests, problems, ...tokens } = model.report()
  const fallback = byRules === 0 ? '' : `, ${byRules} decided by rules`
  const why = Object.keys(problems).length === 0 ? '' : ` ${JSON.stringify(problems)}`
  return `user simulator ${name}: ${countOf(messages, 'message')}, ${asked} with the due question, ${messages - asked - byRules} without${fallback}${why}; ${countOf(requests, 'request')}, ${saidTokens(tokens, price)}`
}
