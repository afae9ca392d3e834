import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { equalValues, own } from '../../../rollout/reward/values.js'
import { fits } from '../../../servers/kernel/fits-schema.js'
import { anyJson, reorderKeys } from '../../support/reward-generators.js'

const RUNS = { numRuns: 500, seed: 20260302 }
const parse = (text: string): Json => JSON.parse(text) as Json

test('a value equals itself, its copy and its copy with other key order', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      assert.ok(equalValues(value, value))
      assert.ok(equalValues(value, parse(JSON.stringify(value))))
      assert.ok(equalValues(value, reorderKeys(value)))
    }),
    RUNS,
  )
})

test('equality is symmetric and agrees with the canonical text', () => {
  const sorted = (value: Json): unknown => {
    if (Array.isArray(value)) return value.map(sorted)
    if (typeof value !== 'object' || value === null) return value
    return Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => ({ key, part: sorted(part) }))
  }
  // Arrays of entries and arrays of values could be told apart only by their entries' shape, so objects are wrapped.
  const canonical = (value: Json): string => JSON.stringify({ is: sorted(value), kind: typeof value })
  const small = fc.oneof(anyJson, fc.constantFrom<Json>(0, '0', false, null, '', [], {}, [0], { a: 0 }, { a: [] }))
  fc.assert(
    fc.property(small, small, (a, b) => {
      assert.is(equalValues(a, b), equalValues(b, a))
      if (canonical(a) !== canonical(b)) assert.not(equalValues(a, b))
    }),
    RUNS,
  )
})

const UNEQUAL: readonly (readonly [string, Json, Json])[] = [
  ['a number and its numeral', 500, '500'],
  ['true and one', true, 1],
  ['false and zero', false, 0],
  ['false and null', false, null],
  ['zero and null', 0, null],
  ['an empty string and null', '', null],
  ['an empty array and an empty object', [], {}],
  ['an array and an object with its indices', ['tea'], { 0: 'tea' }],
  ['an array and an object with indices and length', [1], { 0: 1, length: 1 }],
  ['strings in other case', 'Tea', 'tea'],
  ['strings with a trailing blank', 'tea', 'tea '],
  ['composed and decomposed letters', '\u00e9', 'e\u0301'],
  ['arrays in another order', [1, 2], [2, 1]],
  ['arrays of other length', [1], [1, 1]],
  ['objects with one key more', { a: 1 }, { a: 1, b: 1 }],
  ['objects with other keys', { a: 1 }, { b: 1 }],
  ['nested values', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
  ['an own key and an inherited one', parse('{"constructor":1}'), {}],
  ['two different own keys, both inherited on the other side', { toString: 1 }, { valueOf: 1 }],
  ['own __proto__ keys of other value', parse('{"__proto__":{"a":1}}'), parse('{"__proto__":{"a":2}}')],
  ['an own __proto__ key and none', parse('{"__proto__":{}}'), {}],
  ['an own __proto__ key of null and none', parse('{"__proto__":null}'), parse('{"a":null}')],
]
for (const [what, a, b] of UNEQUAL) {
  test(`${what} are not equal`, () => {
    assert.not(equalValues(a, b))
    assert.not(equalValues(b, a))
  })
}

test('numbers are equal as doubles, however they are written', () => {
  for (const [a, b] of [
    ['2', '2.0'],
    ['100', '1e2'],
    ['0', '-0'],
    ['0.1', '0.10000000000000000555'],
    ['9007199254740993', '9007199254740992'],
  ] as const) {
    assert.ok(equalValues(parse(a), parse(b)), `${a} and ${b}`)
  }
  assert.not(equalValues(0.1 + 0.2, 0.3))
})

test('own __proto__ keys of equal value are equal, and the last of a repeated key counts', () => {
  assert.ok(equalValues(parse('{"__proto__":{"a":1}}'), parse('{"__proto__":{"a":1.0}}')))
  assert.ok(equalValues(parse('{"a":1,"a":2}'), { a: 2 }))
})

test('an absent value equals nothing, not even an absent one', () => {
  assert.not(equalValues(undefined, undefined))
  assert.not(equalValues(undefined, null))
  assert.not(equalValues(null, undefined))
})

test('inherited properties are not found', () => {
  for (const key of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) assert.is(own({}, key), undefined, key)
  assert.is(own(parse('{"constructor":5}') as JsonObject, 'constructor'), 5)
})

const FITS: readonly (readonly [string, unknown, unknown, boolean])[] = [
  ['anything fits a schema that is not an object', 'tea', true, true],
  ['nothing fits false', 'tea', false, false],
  ['a schema with a reference is not looked at', 'tea', { $ref: '#/x', type: 'integer' }, true],
  ['an unknown type name accepts everything', 'tea', { type: 'date' }, true],
  ['a whole number fits integer', 2, { type: 'integer' }, true],
  ['a whole number with a point fits integer', parse('2.0'), { type: 'integer' }, true],
  ['a fraction does not fit integer', 2.5, { type: 'integer' }, false],
  ['an integer fits number', 2, { type: 'number' }, true],
  ['a boolean is not a number', true, { type: 'number' }, false],
  ['a boolean is not an integer', true, { type: 'integer' }, false],
  ['a numeral is not a number', '2', { type: 'number' }, false],
  ['null is not an object', null, { type: 'object' }, false],
  ['an array is not an object', [], { type: 'object' }, false],
  ['null fits only where it is allowed', null, { type: ['string', 'null'] }, true],
  ['one of a list of types is enough', 3, { type: ['string', 'integer'] }, true],
  ['none of a list of types is not', true, { type: ['string', 'integer'] }, false],
  ['one branch of anyOf is enough', 3, { anyOf: [{ type: 'string' }, { type: 'integer' }] }, true],
  ['no branch of anyOf is not', true, { anyOf: [{ type: 'string' }, { type: 'integer' }] }, false],
  ['two branches of oneOf may fit', 3, { oneOf: [{ type: 'number' }, { type: 'integer' }] }, true],
  ['a branch does not excuse the type beside it', 3, { type: 'string', anyOf: [{ type: 'integer' }] }, false],
  ['all branches of allOf must fit', 2.5, { allOf: [{ type: 'number' }, { type: 'integer' }] }, false],
  ['elements must fit items', [1, 'a'], { type: 'array', items: { type: 'integer' } }, false],
  ['an empty array fits any items', [], { type: 'array', items: { type: 'integer' } }, true],
  ['nested elements are looked at', [[1], ['a']], { items: { items: { type: 'integer' } } }, false],
  ['a required key must be present', {}, { required: ['query'] }, false],
  ['a required key may be null where null is allowed', { query: null }, { required: ['query'] }, true],
  [
    'a required null must fit its type',
    { query: null },
    { required: ['query'], properties: { query: { type: 'string' } } },
    false,
  ],
  ['an inherited name does not satisfy a required key', {}, { required: ['constructor'] }, false],
  ['an inherited name is not a declared property', { toString: 5 }, { properties: {} }, true],
  ['an own __proto__ does not satisfy another key', parse('{"__proto__":{"query":1}}'), { required: ['query'] }, false],
  [
    'a declared __proto__ is checked',
    parse('{"__proto__":1}'),
    parse('{"properties":{"__proto__":{"type":"string"}}}'),
    false,
  ],
  ['an optional key must fit when present', { limit: 'ten' }, { properties: { limit: { type: 'integer' } } }, false],
  ['undeclared keys are left to the server', { extra: 1 }, { properties: {}, additionalProperties: false }, true],
  ['enum is left to the server', 'green', { type: 'string', enum: ['red'] }, true],
  [
    'ranges and patterns are left to the server',
    'x',
    { type: 'string', minLength: 5, pattern: '^a', maximum: 0 },
    true,
  ],
]
for (const [what, value, schema, expected] of FITS) {
  test(what, () => assert.is(fits(value, schema), expected))
}

test('fitting depends on neither key order nor a JSON round trip', () => {
  const schema = fc.constantFrom(...FITS.map(([, , one]) => one))
  fc.assert(
    fc.property(anyJson, schema, (value, one) => {
      const answer = fits(value, one)
      assert.is(fits(reorderKeys(value), one), answer)
      assert.is(fits(parse(JSON.stringify(value)), parse(JSON.stringify(one))), answer)
    }),
    RUNS,
  )
})

test.run()
