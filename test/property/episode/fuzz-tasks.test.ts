import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EpisodeError, nameTask, parseTask, type TaskBody } from '../../../rollout/episode/index.js'
import { parseCalls } from '../../support/scripted.js'

const BODY: TaskBody = {
  kind: 'multi-turn',
  environments: [{ environment: 'banking', seed: 7 }],
  toolset: [
    { environment: 'banking', tool: 'list_accounts' },
    { environment: 'banking', tool: 'freeze_card' },
  ],
  turns: ['Freeze the card of my savings account.', 'Thank you.'],
  groundTruth: [
    { name: 'list_accounts', arguments: {}, after: [], turn: 0 },
    { name: 'freeze_card', arguments: { card: 'c1', why: ['lost', { at: null }], amount: -0.5 }, after: [0], turn: 0 },
  ],
  chain: 'banking:list_accounts>freeze_card',
}
const TASK = nameTask(BODY)

/** The code of a refusal, or the task, which then has the id of its own content. */
function outcome(value: unknown): string {
  try {
    const task = parseTask(value)
    const { id, ...body } = task
    assert.is(nameTask(body).id, id)
    assert.is(parseTask(JSON.parse(JSON.stringify(task))).id, id)
    return 'accepted'
  } catch (why) {
    if (!(why instanceof EpisodeError)) throw why
    assert.ok(why.message.length < 1000, `a reason of ${why.message.length} characters`)
    return why.code
  }
}

test('any value at all is refused as a task, with a short reason', () => {
  const value = fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true, maxDepth: 4 })
  fc.assert(
    fc.property(value, (one) => {
      assert.is(outcome(one), 'bad_task')
    }),
    { seed: 801, numRuns: 1000 },
  )
})

/** Where something is put into the task, and what. */
const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -0,
    Number.POSITIVE_INFINITY,
    Number.NaN,
    -1,
    2 ** 53,
    '',
    '\ud800',
    '__proto__',
    '\0',
    'é'.repeat(5000),
    [],
    {},
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(JSON.parse('{"__proto__":{"kind":"abstention"}}') as unknown),
  fc.array(fc.constant(0), { minLength: 500, maxLength: 500 }),
)
const PATHS = [
  ['kind'],
  ['environments'],
  ['environments', 0],
  ['environments', 0, 'seed'],
  ['toolset', 1, 'tool'],
  ['turns', 0],
  ['groundTruth', 0, 'arguments'],
  ['groundTruth', 1, 'arguments', 'card'],
  ['groundTruth', 1, 'arguments', '__proto__'],
  ['groundTruth', 1, 'after'],
  ['groundTruth', 1, 'turn'],
  ['chain'],
  ['facts'],
  ['facts', 0, 'value'],
  ['questions'],
  ['questions', 0, 'words'],
  ['system'],
  ['stripEnums'],
  ['__proto__'],
  ['constructor'],
  ['more'],
] as const
function put(target: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  const copy: Record<string | number, unknown> = Array.isArray(target)
    ? (Object.assign([], target) as unknown as Record<number, unknown>)
    : { ...(target as object) }
  const inner = rest.length === 0 ? value : put(copy[step!], rest, value)
  Object.defineProperty(copy, step!, { value: inner, enumerable: true, configurable: true, writable: true })
  return copy
}

test('a task with anything in any of its places is refused, or is a task with the id of its content', () => {
  const codes = new Map<string, number>()
  fc.assert(
    fc.property(fc.constantFrom(...PATHS), junk, fc.boolean(), (path, value, renamed) => {
      const bent = put(BODY, path, value) as TaskBody
      let id = TASK.id
      try {
        // Half of them with the id that they would have: then only the content can refuse them.
        if (renamed) id = nameTask(bent).id
      } catch {
        // What has no canonical form has no id.
      }
      const code = outcome({ ...bent, id })
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }),
    { seed: 803, numRuns: 3000 },
  )
  assert.ok((codes.get('accepted') ?? 0) > 30 && (codes.get('bad_task') ?? 0) > 1000)
  assert.is(({} as { kind?: unknown }).kind, undefined)
})

test('a task nested without end is refused before anything walks down into it', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    for (const depth of [28, 29, 1000, 100_000]) {
      const deep: unknown = JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`)
      const bent = put(BODY, ['groundTruth', 1, 'arguments', 'card'], deep) as TaskBody
      const id = depth < 29 ? nameTask(bent).id : TASK.id
      assert.is(outcome({ ...bent, id }), depth < 29 ? 'accepted' : 'bad_task', `${depth}`)
    }
  }
})

test('every bound of a task holds at the bound and not one beyond it', () => {
  const call = BODY.groundTruth[0]!
  const at: readonly (readonly [string, (n: number) => Partial<TaskBody>, number])[] = [
    ['turns', (n) => ({ turns: Array.from({ length: n }, () => 'Hello.') }), 5],
    ['a turn', (n) => ({ turns: ['x'.repeat(n)] }), 4000],
    [
      'environments',
      (n) => ({ environments: Array.from({ length: n }, (_, i) => ({ environment: `w${i}`, seed: 0 })) }),
      20,
    ],
    ['a seed', (n) => ({ environments: [{ environment: 'banking', seed: n }] }), 2 ** 32 - 1],
    [
      'tools',
      (n) => ({ toolset: Array.from({ length: n }, (_, i) => ({ environment: 'banking', tool: `t${i}` })) }),
      64,
    ],
    ['a tool name', (n) => ({ toolset: [{ environment: 'banking', tool: 't'.repeat(n) }] }), 64],
    ['calls', (n) => ({ groundTruth: Array.from({ length: n }, () => call) }), 16],
    ['edges', (n) => ({ groundTruth: [{ ...call, after: Array.from({ length: n }, () => 0) }] }), 16],
    ['an argument name', (n) => ({ groundTruth: [{ ...call, arguments: { ['a'.repeat(n)]: 1 } }] }), 100],
    ['a chain', (n) => ({ chain: 'c'.repeat(n) }), 400],
    ['a system message', (n) => ({ system: 's'.repeat(n) }), 20_000],
  ]
  for (const [what, make, limit] of at) {
    assert.is(outcome(nameTask({ ...BODY, ...make(limit) })), 'accepted', what)
    assert.is(outcome(nameTask({ ...BODY, ...make(limit + 1) })), 'bad_task', what)
  }
})

test('whatever a policy writes is read as calls or as malformed blocks, and a name or argument is never inherited', () => {
  const part = fc.constantFrom(
    ...[
      '<tool_call>',
      '</tool_call>',
      '{"name":',
      '"freeze_card"',
      ',"arguments":',
      '{}',
      '{"__proto__":{"x":1}}',
      '}',
      '[',
      ']',
    ],
    ...['null', '1e999', '"\\ud800"', '"', '\\', '\n', 'text', '<', '{"name":"__proto__"}', '{"constructor":1}', '-0'],
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 25 }), (parts) => {
      for (const call of parseCalls(parts.join(''))) {
        if (call.malformed) assert.type(call.raw, 'string')
        else {
          assert.ok(call.name.length > 0)
          assert.is(Object.getPrototypeOf(call.arguments), Object.prototype)
        }
      }
    }),
    { seed: 807, numRuns: 1500 },
  )
  assert.is(({} as { x?: unknown }).x, undefined)
})

test.run()
