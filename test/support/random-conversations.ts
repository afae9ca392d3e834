import fc from 'fast-check'
import type { Task } from '../../rollout/episode/index.js'
import { asking } from './asking-task.js'
import { lendingTask } from './scripted.js'

/** Random conversations in the words of a model: text, and calls in any state, with the reading that training gives them. */

/** A call as a model writes it: any name, and any text for the arguments. */
export interface WrittenCall {
  readonly name: string
  readonly args: string
}

export interface WrittenMessage {
  readonly text: string
  readonly calls: readonly WrittenCall[]
}

const lending = lendingTask()

/** Tasks with two turns: plain ones, one that adds a tool, one with a question, one that asks for facts. */
export const LENDING_TASKS: readonly Task[] = [
  lending,
  lendingTask({
    toolset: lending.toolset.map((offer) => (offer.tool === 'return_book' ? { ...offer, from: 1 } : offer)),
  }),
  asking,
  lendingTask({ facts: [{ turn: 0, value: '2026-03-16' }], system: 'Today is 2026-03-02.' }),
]

const { arguments: loanArguments } = lending.groundTruth[1]!
const value = fc.oneof(
  fc.constantFrom('emma', 'walden', 'Ada', 'nobody', 'evil.example'),
  fc.integer({ min: -2, max: 60 }),
)
const keys = fc.constantFrom('book', 'reader', 'loan', 'weeks', 'shelf')
const args = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('{"book": "emma", "reader": "Ada"}', JSON.stringify(loanArguments)) },
  {
    weight: 3,
    arbitrary: fc.dictionary(keys, value, { maxKeys: 3, noNullPrototype: true }).map((given) => JSON.stringify(given)),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...['null', '[1]', '7', '"{}"', 'true', '{"book":', '{"book": "emma", "reader": "Ada"', '{"shelf": NaN}'],
      ...['{"weeks": [-Infinity]}', '{"shelf": 1e999}', '{"__proto__": {"a": 1}}', '{"shelf": null, "\\"NaN": "NaN"}'],
    ),
  },
)
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('list_books', 'lend_book', 'return_book') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['burn_books', 'CreateEvent', 'verify', 'seed_session', 'reset', 'episodes', 'step', 'mcp', 'create', 'call'],
      ...['', 'x'.repeat(200), 'a/b?c=d', '../verify', 'lend book', 'lénd_book', 'list_books?', 'open', 'close'],
    ),
  },
)
const text = fc.constantFrom(
  ...['', '', 'I look.', 'It costs 98765.43.', 'Write to evil.example!', 'Whose name is it?', 'Done.'],
  ...['It is due on 2026-03-16.', 'emma is with Ada until March 16, for 7 weeks.'],
)
const call = fc.record({ name, args })
const message: fc.Arbitrary<WrittenMessage> = fc.record({
  text,
  calls: fc.oneof(fc.constant([]), fc.array(call, { minLength: 1, maxLength: 4 }), fc.array(call, { maxLength: 13 })),
})

const busy = fc.record({ text, calls: fc.array(call, { minLength: 1, maxLength: 2 }) })

/** A task, and messages that reach an end of it. The last ones have no calls. */
export const conversation = fc.record({
  task: fc.constantFrom(...LENDING_TASKS),
  messages: fc
    .oneof(
      { weight: 3, arbitrary: fc.array(message, { maxLength: 9 }) },
      { weight: 1, arbitrary: fc.array(busy, { minLength: 9, maxLength: 11 }) },
    )
    .map((begun) => [...begun, ...Array.from({ length: 7 }, () => ({ text: 'Done.', calls: [] }))]),
})

/** Returns a message in the tool-call format of training. */
export const asTrained = ({ text, calls }: WrittenMessage): string =>
  [
    text,
    ...calls.map((one) => `<tool_call>\n{"name": ${JSON.stringify(one.name)}, "arguments": ${one.args}}\n</tool_call>`),
  ].join('\n')

/** Returns a message in the JSON of this project. */
export const asSent = ({ text, calls }: WrittenMessage): object => ({
  text,
  calls: calls.map(({ name, args }) => ({ name, arguments: args })),
})
