import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type ReadableCall,
  type ToolCallFormat,
  toolCallFormatNamed,
  withResults,
} from '../../../rollout/episode/index.js'
import { BLOCK_LIMITS } from '../../../rollout/episode/tool-call-formats/call-block.js'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'

/** Blocks of calls with references: what is written is read back, and hostile texts neither throw nor exceed a limit. */

const RUNS = { numRuns: 300, seed: 20261128 }
const { parseCalls, prose, argumentSpans, writeCalls } = toolCallFormatNamed('code-block') as ToolCallFormat & {
  writeCalls: NonNullable<ToolCallFormat['writeCalls']>
}

const key = fc.oneof(
  fc.constantFrom('a', 'id', '__proto__', 'constructor', 'full id', '<tool_code>', '"', ''),
  fc.string(),
)
const plain = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)
const step = fc.oneof(key, fc.nat({ max: 99 }))

/** Arguments of the call at an index, in which some members refer to earlier calls. */
const call = (index: number): fc.Arbitrary<ReadableCall> =>
  fc
    .record({
      name: fc.oneof(fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/), fc.constantFrom('odd tool', 'a.b', 'true')),
      plain: fc.uniqueArray(fc.tuple(key, plain), { selector: ([name]) => name, maxLength: 3 }),
      bound: fc.uniqueArray(
        fc.record({
          key,
          back: fc.integer({ min: 1, max: Math.max(1, index) }),
          path: fc.array(step, { maxLength: 3 }),
        }),
        { selector: (one) => one.key, maxLength: index === 0 ? 0 : 3 },
      ),
    })
    .map(({ name, plain: members, bound }) => {
      const free = members.filter(([member]) => !bound.some((one) => one.key === member))
      const args = Object.fromEntries([...free, ...bound.map((one) => [one.key, null] as const)]) as JsonObject
      const order = Object.keys(args)
      const references = bound
        .map((one) => ({ at: [one.key], back: one.back, path: one.path }))
        .sort((a, b) => order.indexOf(a.at[0]!) - order.indexOf(b.at[0]!))
      return references.length === 0 ? { name, arguments: args } : { name, arguments: args, bound: references }
    })
const places = Array.from({ length: 6 }, (_, i) => call(i))
const calls = fc.oneof(...places.map((_, last) => fc.tuple(...places.slice(0, last + 1))))

test('calls that were written are read back with their references, and leave no text for the user', () => {
  fc.assert(
    fc.property(calls, (given) => {
      const message = writeCalls(given)
      // As text: the comparison of values takes a key "constructor" for a class.
      assert.is(JSON.stringify(parseCalls(message)), JSON.stringify(given))
      assert.is(JSON.stringify(parseCalls(`Well. ${message}<|im_end|>`)), JSON.stringify(given))
      assert.is(prose(message), '')
      assert.is(argumentSpans(message).length, given.length)
    }),
    RUNS,
  )
})

test('a hostile text never throws, and its readable calls keep every limit', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<tool_code>',
      '</tool_code>',
      '\n',
      '(',
      ')',
      '=',
      ',',
      '.',
      '[',
      ']',
      '{',
      '}',
      '"',
      '\\',
      ':',
      ' ',
    ),
    fc.constantFrom(
      'a',
      'pay',
      'true',
      'null',
      '0',
      '-1',
      '1e9',
      '"x"',
      'a = open()',
      'pay(to=a.b[0])',
      '\ud800',
      '\u0000',
    ),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), (pieces, isClosed) => {
      const message = isClosed ? `<tool_code>\n${pieces.join('')}\n</tool_code>` : pieces.join('')
      const found = parseCalls(message)
      for (const [i, one] of found.entries()) {
        if (one.malformed) continue
        assert.ok(one.name.length > 0)
        for (const { back, path } of one.bound ?? []) {
          assert.ok(back >= 1 && back <= i, 'a reference goes back to a call of the message')
          assert.ok(path.length <= BLOCK_LIMITS.steps)
        }
      }
      let before = 0
      for (const [start, end] of argumentSpans(message)) {
        assert.ok(before <= start && start <= end && end <= message.length)
        before = end
      }
    }),
    { ...RUNS, numRuns: 2000 },
  )
})

test('a mutated block is read as a whole or not at all', () => {
  fc.assert(
    fc.property(
      calls,
      fc.nat(),
      fc.constantFrom('', '(', ')', '"', '=', ',', '\n', 'a', '.', '['),
      (given, at, put) => {
        const message = writeCalls(given)
        const start = '<tool_code>\n'.length + (at % (message.length - '<tool_code>\n\n</tool_code>'.length))
        const mutated = message.slice(0, start) + put + message.slice(start + 1)
        const found = parseCalls(mutated)
        assert.ok(found.length >= 1)
        const broken = found.filter(({ malformed }) => malformed === true)
        assert.ok(broken.length === 0 || found.length === broken.length, mutated)
      },
    ),
    RUNS,
  )
})

test('a value is the one at its place in an earlier result, own keys only, or the call is not made', () => {
  fc.assert(
    fc.property(plain, fc.array(step, { maxLength: 3 }), fc.boolean(), (result, path, ok) => {
      const results = [{ ok, text: JSON.stringify(result) }]
      const made = withResults(
        { name: 'pay', arguments: { to: [null], keep: null }, bound: [{ at: ['to', 0], back: 1, path }] },
        results,
      )
      let expected: unknown = ok ? result : undefined
      for (const one of path) {
        const isList = Array.isArray(expected)
        const fits = typeof expected === 'object' && expected !== null && isList === (typeof one === 'number')
        expected =
          fits && Object.hasOwn(expected as object, one)
            ? (expected as Record<string | number, unknown>)[one]
            : undefined
      }
      if (expected === undefined) assert.is(made, null)
      else assert.is(JSON.stringify(made), JSON.stringify({ name: 'pay', arguments: { to: [expected], keep: null } }))
    }),
    RUNS,
  )
})

test.run()
