import { readFile, writeFile } from 'node:fs/promises'
import { CodedError, countOf } from '../../../common/errors/index.js'
import type { MessageInterpreter, Task } from '../../../rollout/episode/index.js'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import type { RowChange } from '../../kernel/index.js'
import { actionSchema, parseAs } from '../action.js'
import type { TaskRuntime } from '../episode-runtime.js'
import type { Action } from '../play.js'
import { type Branch, openPlayedTask, type PlayedTask, partsOf, type Step } from './board.js'
import { judgePublished } from './judge-published.js'
import { publishable, readPublished } from './published.js'

export interface TerminalParts {
  readonly tasks: readonly Task[]
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  /** Hears what the user of a task is asked, in place of the rules. */
  readonly listener?: MessageInterpreter
  /** What somebody types, line by line. */
  readonly lines: AsyncIterable<string>
  write(text: string): void
}

/** A line that asks for something that there is not, or in a form that is not understood. */
class PlayError extends CodedError<'bad_line'> {}
const wrong = (detail: string): PlayError => new PlayError('bad_line', detail)

interface Table {
  played: PlayedTask | null
  branch: string
}

type Play = (rest: string, table: Table, parts: TerminalParts) => string | Promise<string>

interface Order {
  readonly form: string
  readonly about: string
  readonly run: Play
}

const opened = ({ played }: Table): PlayedTask => {
  if (!played) throw wrong('open a task first: tasks lists them, open 1 opens the first')
  return played
}
const current = (table: Table): Branch => opened(table).branch(table.branch)!

const ORDERS: Readonly<Record<string, Order>> = {
  tasks: {
    form: 'tasks [words]',
    about: 'the tasks, or those that hold the words',
    run(words, _, { tasks }) {
      const lines = tasks.map((task, i) => `${String(i + 1).padStart(4)}  ${titleOf(task)}`)
      return lines.filter((line) => line.toLowerCase().includes(words.toLowerCase())).join('\n')
    },
  },
  open: {
    form: 'open <number>',
    about: 'open a task',
    async run(number, table, { tasks, runtime, reward, listener }) {
      const task = tasks[Number(number) - 1]
      if (!task) throw wrong(`there are tasks 1 to ${tasks.length}`)
      table.played = await openPlayedTask(task, runtime, reward, listener)
      table.branch = 'A'
      const { opening, offered } = current(table).episode
      return [
        ...opening.map(({ role, content }) => `${role}: ${content}`),
        `tools: ${offered.map(({ name }) => name).join(', ')}`,
      ].join('\n')
    },
  },
  tool: {
    form: 'tool <name>',
    about: 'what a tool does and takes',
    run(name, table) {
      const tool = current(table).episode.offered.find((one) => one.name === name)
      if (!tool) throw wrong(`the task offers no tool ${name}`)
      return `${tool.description}\n${JSON.stringify(tool.inputSchema, null, 1)}`
    },
  },
  call: {
    form: 'call <tool> {"name": value}',
    about: 'make a call',
    run(rest, table) {
      const [, name = '', json = '{}'] = rest.match(/^(\S+)\s*(.*)$/s) ?? []
      return move(parseAs(actionSchema, { name, arguments: json === '' ? {} : json }), table)
    },
  },
  say: { form: 'say <text>', about: 'answer the user', run: (text, table) => move({ type: 'say', text }, table) },
  reward: {
    form: 'reward',
    about: 'what it is worth so far, and its parts',
    run: (_, table) => rewardText(current(table)),
  },
  solution: {
    form: 'solution',
    about: 'the calls that solve the task',
    run: (_, table) =>
      opened(table)
        .task.groundTruth.map(({ name, arguments: args }) => `call ${name} ${JSON.stringify(args)}`)
        .join('\n') || 'no call at all',
  },
  fork: {
    form: 'fork',
    about: 'play on in a copy, beside what there is',
    run(_, table) {
      table.branch = opened(table).fork(table.branch).name
      return `now in ${table.branch}`
    },
  },
  go: {
    form: 'go <branch>',
    about: 'back to another copy',
    run(name, table) {
      if (!opened(table).branch(name)) throw wrong(`there is no branch ${name}`)
      table.branch = name
      return `now in ${name}\n${rewardText(current(table))}`
    },
  },
  compare: {
    form: 'compare <branch>',
    about: 'this copy beside another',
    run(name, table) {
      if (!opened(table).branch(name)) throw wrong(`there is no branch ${name}`)
      const { shared, rewards, changes } = opened(table).compare(table.branch, name)
      return [
        `${countOf(shared, 'step')} in common; ${table.branch} and ${name}:`,
        ...rewards.map((part) => `  ${part.name.padEnd(14)} ${stated(part.one)}  ${stated(part.other)}`),
        changes.length === 0 ? 'their worlds are in the same state' : changesText(changes),
      ].join('\n')
    },
  },
  save: {
    form: 'save <file>',
    about: 'write what was played, to be judged again',
    async run(file, table) {
      await writeFile(file, `${JSON.stringify(publishable(current(table)), null, 1)}\n`, { flag: 'wx' })
      return `written to ${file}`
    },
  },
  judge: {
    form: 'judge <file>',
    about: 'judge a published rollout or group again',
    async run(file, _, { tasks, runtime }) {
      const published = readPublished(await readFile(file, 'utf8'), (id) => {
        const task = tasks.find((one) => one.id === id)
        if (!task) throw wrong(`there is no task ${id} here`)
        return task
      })
      const { findings } = await judgePublished(published, runtime)
      const lies = findings.filter(({ outcome }) => outcome === 'lie')
      return [
        ...findings.map(
          ({ outcome, check, detail }) => `${outcome.padEnd(5)}  ${check}${detail === '' ? '' : `: ${detail}`}`,
        ),
        lies.length === 0 ? 'nothing of it is found wrong' : `caught: ${lies.map(({ code }) => code).join(', ')}`,
      ].join('\n')
    },
  },
}

async function move(action: Action, table: Table): Promise<string> {
  const played = opened(table)
  const before = current(table).steps.at(-1)
  return stepText(await played.act(table.branch, action), before)
}

function stepText({ outcome, changes, scored }: Step, before: Step | undefined): string {
  const gain = scored.total - (before?.scored.total ?? 0)
  const worth = `worth ${stated(scored.total)}${before ? ` (${gain < 0 ? '' : '+'}${stated(gain)})` : ''}`
  const understood =
    outcome.type === 'result'
      ? outcome.text
      : outcome.type === 'user'
        ? `user: ${outcome.text}`
        : 'the user has nothing more to say'
  return [understood, ...(changes.length === 0 ? [] : [changesText(changes)]), worth].join('\n')
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
  const parts = Object.entries(partsOf(scored)).map(([name, value]) => `  ${name.padEnd(14)} ${stated(value)}`)
  return [`${stated(scored.total)}${scored.solved ? ', solved' : ''}`, ...parts].join('\n')
}

const stated = (value: number | null): string => (value === null ? '–' : String(Number(value.toFixed(4))))
const titleOf = ({ environments, turns }: Task): string =>
  `${environments.map(({ environment }) => environment).join(', ')}: ${turns[0]!.slice(0, 80)}`

const helpText = (): string =>
  [
    ...Object.values(ORDERS).map(({ form, about }) => `  ${form.padEnd(28)} ${about}`),
    `  ${'quit'.padEnd(28)} end`,
  ].join('\n')

/** A person at a terminal plays tasks: until `quit`, or the end of what is typed. */
export async function playInTerminal(parts: TerminalParts): Promise<void> {
  const table: Table = { played: null, branch: 'A' }
  const ask = (): void => parts.write(table.played ? `${table.branch}> ` : '> ')
  parts.write(`${countOf(parts.tasks.length, 'task')}. help lists what can be typed.\n`)
  ask()
  for await (const line of parts.lines) {
    const [, word = '', rest = ''] = line.trim().match(/^(\S*)\s*(.*)$/s) ?? []
    if (word === 'quit') return
    parts.write(`${await answer(word, rest, table, parts)}\n`)
    ask()
  }
}

async function answer(word: string, rest: string, table: Table, parts: TerminalParts): Promise<string> {
  if (word === '' || word === 'help') return helpText()
  const order = Object.hasOwn(ORDERS, word) ? ORDERS[word] : undefined
  if (!order) return `there is no ${word}; help lists what there is`
  try {
    return await order.run(rest, table, parts)
  } catch (error) {
    // What was typed, or a file that cannot be read or written: whoever plays goes on. A defect of a world ends the program.
    if (error instanceof CodedError || (error as NodeJS.ErrnoException).code !== undefined)
      return (error as Error).message
    throw error
  }
}
