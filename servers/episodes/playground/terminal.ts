import { readFile, writeFile } from 'node:fs/promises'
import { CodedError, countOf } from '../../../common/errors/index.js'
import type { AssistantMessage, MessageInterpreter, Task } from '../../../rollout/episode/index.js'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import type { RowChange } from '../../kernel/index.js'
import type { TaskRuntime } from '../episode-runtime.js'
import { readCall } from '../message.js'
import { type Branch, openPlayedTask, type PlayedTask, partsOf, type Step } from './played-task.js'
import { publishable, readPublished } from './published.js'
import { verifyPublished } from './verify-published.js'

export interface TerminalParts {
  readonly tasks: readonly Task[]
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  /** User simulator; default: embedded rules. */
  readonly simulator?: MessageInterpreter
  /** Typed lines. */
  readonly lines: AsyncIterable<string>
  write(text: string): void
}

/** A typed line cannot be carried out. */
class PlayError extends CodedError<'bad_line'> {}
const wrong = (detail: string): PlayError => new PlayError('bad_line', detail)

interface TerminalState {
  played: PlayedTask | null
  branch: string
  /** Text that the next call is sent with. */
  text: string
}

interface TerminalCommand {
  readonly form: string
  readonly about: string
  readonly run: (rest: string, state: TerminalState, parts: TerminalParts) => string | Promise<string>
}

const opened = ({ played }: TerminalState): PlayedTask => {
  if (!played) throw wrong('no task is open: type "tasks" for the list and "open 1" for the first task')
  return played
}
const current = (state: TerminalState): Branch => opened(state).branch(state.branch)!

const COMMANDS: Readonly<Record<string, TerminalCommand>> = {
  tasks: {
    form: 'tasks [words]',
    about: 'list the tasks, or those that contain the words',
    run(words, _, { tasks }) {
      const lines = tasks.map((task, i) => `${String(i + 1).padStart(4)}  ${titleOf(task)}`)
      return lines.filter((line) => line.toLowerCase().includes(words.toLowerCase())).join('\n')
    },
  },
  open: {
    form: 'open <number>',
    about: 'open a task',
    async run(number, state, { tasks, runtime, reward, simulator }) {
      const task = tasks[Number(number) - 1]
      if (!task) throw wrong(`no task ${number}: give a number from 1 to ${tasks.length}`)
      state.played = await openPlayedTask(task, runtime, reward, simulator)
      Object.assign(state, { branch: 'A', text: '' })
      const { opening, offered } = current(state).episode
      return [
        ...opening.map(({ role, content }) => `${role}: ${content}`),
        `tools: ${offered.map(({ name }) => name).join(', ')}`,
      ].join('\n')
    },
  },
  tool: {
    form: 'tool <name>',
    about: "show a tool's description and arguments",
    run(name, state) {
      const tool = current(state).episode.offered.find((one) => one.name === name)
      if (!tool) throw wrong(`the task offers no tool ${name}: "open" lists its tools`)
      return `${tool.description}\n${JSON.stringify(tool.inputSchema, null, 1)}`
    },
  },
  call: {
    form: 'call <tool> {"name": value}',
    about: 'call a tool',
    run(rest, state) {
      const [, name = '', json = ''] = rest.match(/^(\S+)\s*(.*)$/s) ?? []
      const text = state.text
      state.text = ''
      return move({ text, calls: [readCall(name, json)] }, state)
    },
  },
  write: {
    form: 'write <text>',
    about: 'write a text next to the next call',
    run(text, state) {
      opened(state)
      state.text = text
      return `the next call is sent with: ${text}`
    },
  },
  say: { form: 'say <text>', about: 'answer the user', run: (text, state) => move({ text, calls: [] }, state) },
  reward: {
    form: 'reward',
    about: 'show the reward so far and its components',
    run: (_, state) => rewardText(current(state)),
  },
  solution: {
    form: 'solution',
    about: 'show the calls that solve the task',
    run: (_, state) =>
      opened(state)
        .task.groundTruth.map(({ name, arguments: args }) => `call ${name} ${JSON.stringify(args)}`)
        .join('\n') || 'the solution makes no calls',
  },
  fork: {
    form: 'fork',
    about: 'copy the current branch and continue in the copy',
    run(_, state) {
      state.branch = opened(state).fork(state.branch).name
      return `now in ${state.branch}`
    },
  },
  go: {
    form: 'go <branch>',
    about: 'switch to another branch',
    run(name, state) {
      state.branch = branchNamed(name, state)
      return `now in ${name}\n${rewardText(current(state))}`
    },
  },
  compare: {
    form: 'compare <branch>',
    about: 'compare the current branch with another',
    run(name, state) {
      const { shared, rewards, changes } = opened(state).compare(state.branch, branchNamed(name, state))
      return [
        `${countOf(shared, 'common step')}; ${state.branch} and ${name}:`,
        ...rewards.map((part) => `  ${part.name.padEnd(14)} ${decimal(part.one)}  ${decimal(part.other)}`),
        changes.length === 0 ? 'the environments are in the same state' : changesText(changes),
      ].join('\n')
    },
  },
  save: {
    form: 'save <file>',
    about: 'write the rollout to a file, for "verify"',
    async run(file, state) {
      await writeFile(file, `${JSON.stringify(publishable(current(state)), null, 1)}\n`, { flag: 'wx' })
      return `written to ${file}`
    },
  },
  verify: {
    form: 'verify <file>',
    about: 'verify a published rollout or group',
    async run(file, _, { tasks, runtime }) {
      const published = readPublished(await readFile(file, 'utf8'), (id) => {
        const task = tasks.find((one) => one.id === id)
        if (!task) throw wrong(`no task ${id}: publish the rollout with its whole task`)
        return task
      })
      const { findings } = await verifyPublished(published, runtime)
      const failures = findings.filter(({ outcome }) => outcome === 'failed')
      return [
        ...findings.map(
          ({ outcome, check, detail }) => `${outcome.padEnd(9)}  ${check}${detail === '' ? '' : `: ${detail}`}`,
        ),
        failures.length === 0 ? 'all checks passed' : `failed: ${failures.map(({ code }) => code).join(', ')}`,
      ].join('\n')
    },
  },
}

/** Returns the name of an existing branch. @throws PlayError if no branch has this name */
function branchNamed(name: string, state: TerminalState): string {
  const { branches } = opened(state)
  if (branches.some((branch) => branch.name === name)) return name
  throw wrong(`no branch ${name}: choose one of ${branches.map((branch) => branch.name).join(', ')}`)
}

async function move(message: AssistantMessage, state: TerminalState): Promise<string> {
  const played = opened(state)
  const before = current(state).steps.at(-1)
  return stepText(await played.act(state.branch, message), before)
}

function stepText({ message, reaction, changes, scored }: Step, before: Step | undefined): string {
  const gain = scored.total - (before?.scored.total ?? 0)
  const reward = `reward ${decimal(scored.total)}${before ? ` (${gain < 0 ? '' : '+'}${decimal(gain)})` : ''}`
  const { results, user } = reaction
  const over = message.calls.length === 0 ? 'the conversation is over' : 'the call limit is reached'
  const answers = user === null ? results.map(({ text }) => text) : [`user: ${user}`]
  return [
    ...(answers.length === 0 ? [over] : answers),
    ...(changes.length === 0 ? [] : [changesText(changes)]),
    reward,
  ].join('\n')
}

const changesText = (changes: readonly RowChange[]): string =>
  changes
    .map(
      ({ environment, table, key, before, after }) =>
        `  ${environment}.${table} ${key}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`,
    )
    .join('\n')

function rewardText({ episode }: Branch): string {
  const scored = episode.score()
  const parts = Object.entries(partsOf(scored)).map(([name, value]) => `  ${name.padEnd(14)} ${decimal(value)}`)
  return [`${decimal(scored.total)}${scored.solved ? ', solved' : ''}`, ...parts].join('\n')
}

const decimal = (value: number | null): string => (value === null ? '–' : String(Number(value.toFixed(4))))
const titleOf = ({ environments, turns }: Task): string =>
  `${environments.map(({ environment }) => environment).join(', ')}: ${turns[0]!.slice(0, 80)}`

const helpText = (): string =>
  [
    ...Object.values(COMMANDS).map(({ form, about }) => `  ${form.padEnd(28)} ${about}`),
    `  ${'quit'.padEnd(28)} end`,
  ].join('\n')

/** Lets a person play tasks in a terminal, until `quit` or the end of the input. */
export async function playInTerminal(parts: TerminalParts): Promise<void> {
  const state: TerminalState = { played: null, branch: 'A', text: '' }
  const ask = (): void => parts.write(state.played ? `${state.branch}> ` : '> ')
  parts.write(`${countOf(parts.tasks.length, 'task')}. Type "help" for the commands.\n`)
  ask()
  for await (const line of parts.lines) {
    const [, word = '', rest = ''] = line.trim().match(/^(\S*)\s*(.*)$/s) ?? []
    if (word === 'quit') return
    parts.write(`${await answer(word, rest, state, parts)}\n`)
    ask()
  }
}

async function answer(word: string, rest: string, state: TerminalState, parts: TerminalParts): Promise<string> {
  if (word === '' || word === 'help') return helpText()
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (!command) return `no command ${word}: type "help" for the list`
  try {
    return await command.run(rest, state, parts)
  } catch (error) {
    // A wrong line or an unreadable file is reported, and play continues. A defect of an environment ends the program.
    if (error instanceof CodedError || (error as NodeJS.ErrnoException).code !== undefined)
      return (error as Error).message
    throw error
  }
}
