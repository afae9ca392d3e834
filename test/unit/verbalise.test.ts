import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { z } from 'zod'
import { seededRandom, type ToolDefinition } from '../../servers/kernel/index.js'
import { clauseFor, userTurn } from '../../synthesis/verbalise.js'
import { tools } from './library-world.js'

const NO_PHRASES = new Map<string, string>()
const asking = (...ask: string[]): ToolDefinition => ({ ...tools.lendBook, ask })
const say = (ask: string, args: Record<string, unknown>, phrases = NO_PHRASES) =>
  clauseFor(asking(ask), args, phrases, seededRandom(1))

test('values take the place of their fields, and phrases the place of values', () => {
  const args = { book: 'emma', reader: 'Ada' }
  assert.is(say('lend {book} to {reader}', args), 'lend emma to Ada')
  assert.is(say('lend {book} to {reader}', args, new Map([['book', 'that book']])), 'lend that book to Ada')
  assert.is(say('lend {book}, yes {book}, to {reader}', args), 'lend emma, yes emma, to Ada')
})

test('a bracketed part appears only when all that it says is given', () => {
  assert.is(say('lend {book}[ for {weeks} weeks]', { book: 'emma' }), 'lend emma')
  assert.is(say('lend {book}[ for {weeks} weeks]', { book: 'emma', weeks: 3 }), 'lend emma for 3 weeks')
  assert.is(say('lend {book}[ from {start} for {weeks} weeks]', { book: 'emma', weeks: 3 }), 'lend emma')
})

test('falsy values are said, not dropped', () => {
  assert.is(say('lend {book}[ for {weeks} weeks]', { book: 'emma', weeks: 0 }), 'lend emma for 0 weeks')
  assert.is(say('lend {book}[, urgent: {urgent}]', { book: 'emma', urgent: false }), 'lend emma, urgent: false')
})

test('a clause that does not mention a given argument is not used', () => {
  const args = { book: 'emma', reader: 'Ada', weeks: 3 }
  assert.is(say('lend {book} to {reader}', args), undefined)
  const both = asking('lend {book} to {reader}', 'let {reader} have {book} for {weeks} weeks')
  for (let seed = 0; seed < 10; seed++) {
    assert.is(clauseFor(both, args, NO_PHRASES, seededRandom(seed)), 'let Ada have emma for 3 weeks')
  }
})

test('every fitting clause has its turn', () => {
  const both = asking('lend {book} to {reader}', 'let {reader} have {book}')
  const said = new Set(
    Array.from({ length: 40 }, (_, seed) =>
      clauseFor(both, { book: 'emma', reader: 'Ada' }, NO_PHRASES, seededRandom(seed)),
    ),
  )
  assert.equal([...said].sort(), ['lend emma to Ada', 'let Ada have emma'])
})

test('values that look like placeholders or patterns are said as they are', () => {
  for (const value of ['{reader}', '[x]', '$&', '$1', '\\', 'a "b"', '']) {
    assert.is(say('lend {book} to {reader}', { book: value, reader: 'Ada' }), `lend ${value} to Ada`)
    assert.is(say('lend {book}', { book: 'emma' }, new Map([['book', value]])), `lend ${value}`)
    assert.match(userTurn([`lend ${value} now`, `lend ${value} again`], true, seededRandom(2)), value)
  }
})

test('a list is said as people say lists', () => {
  const list = (...books: string[]) => say('lend {book}', { book: books })
  assert.is(list('emma'), 'lend emma')
  assert.is(list('emma', 'walden'), 'lend emma and walden')
  assert.is(list('emma', 'walden', 'dracula'), 'lend emma, walden and dracula')
})

test('a user turn asks for everything in order, as one or more whole sentences', () => {
  const clauses = ['lend emma to Ada', 'list the books', 'take back loan-7']
  for (let seed = 0; seed < 60; seed++) {
    for (const isFirst of [true, false]) {
      const turn = userTurn(clauses, isFirst, seededRandom(seed))
      const places = clauses.map((clause) => turn.toLowerCase().indexOf(clause.toLowerCase()))
      assert.ok(places[0]! >= 0 && places[0]! < places[1]! && places[1]! < places[2]!, turn)
      assert.match(turn, /^[A-Z]/)
      assert.match(turn, /[^.?][.?]$/)
      if (turn.endsWith('?')) assert.match(turn, /^(Can|Could) you/)
    }
  }
})

test('a question of one sentence ends with a question mark, and of several with a full stop', () => {
  const turns = Array.from({ length: 60 }, (_, seed) =>
    userTurn(['lend emma', 'list the books'], true, seededRandom(seed)),
  )
  const questions = turns.filter((turn) => /^(Can|Could) you/.test(turn))
  assert.ok(questions.some((turn) => turn.endsWith('?')))
  for (const turn of questions) assert.is(turn.endsWith('?'), !turn.includes('. '), turn)
})

test('the clause of a library tool mentions what its schema requires', () => {
  for (const tool of Object.values(tools)) {
    const args = Object.fromEntries(
      Object.entries(tool.input.shape)
        .filter(([, schema]) => !(schema as z.ZodType).isOptional())
        .map(([field]) => [field, `the-${field}`]),
    )
    const clause = clauseFor(tool, args, NO_PHRASES, seededRandom(1))!
    for (const value of Object.values(args)) assert.match(clause, value)
    assert.not.match(clause, /[{}[\]]/)
  }
})

test.run()
