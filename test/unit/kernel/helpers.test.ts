import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { choices, choose, chooseByDraws, pickFrom } from '../../../servers/kernel/choose.js'
import {
  addDays,
  addMinutes,
  clockOf,
  isWorkday,
  minutesBetween,
  minutesOf,
  timeOf,
} from '../../../servers/kernel/dates.js'
import { twoDigitNumbers } from '../../../servers/kernel/key-numbers.js'
import { ascending, descending } from '../../../servers/kernel/lists.js'
import { seededRandom } from '../../../servers/kernel/random.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { excerpt, mentioning, mentions, slug, wordList } from '../../../servers/kernel/text.js'
import { library } from '../../support/library-environment.js'

const books = Session.open(generateSeedState(library, 1)).db.books!
const keys = books.list().map(({ book }) => book as string)

test('a bound row is chosen when it fits, and nothing else is', () => {
  const random = seededRandom(1)
  for (const pick of [choose<Record<string, unknown>>, chooseByDraws<Record<string, unknown>>]) {
    assert.is(pick(books, random, keys[1], () => true)?.book, keys[1])
    assert.is(
      pick(books, random, keys[1], () => false),
      undefined,
    )
    assert.is(
      pick(books, random, 'no such book', () => true),
      undefined,
    )
  }
  assert.equal(
    choices(books, keys[1], () => true).map(({ book }) => book),
    [keys[1]],
  )
  assert.equal(
    choices(books, keys[1], () => false),
    [],
  )
  assert.equal(
    choices(books, 'no such book', () => true),
    [],
  )
})

test('without a binding every row that fits is chosen some time, and no other', () => {
  const wanted = keys.slice(0, 2)
  const fits = ({ book }: Record<string, unknown>) => wanted.includes(book as string)
  assert.equal(
    choices(books, undefined, fits).map(({ book }) => book),
    wanted,
  )
  for (const pick of [choose<Record<string, unknown>>, chooseByDraws<Record<string, unknown>>]) {
    const random = seededRandom(2)
    const chosen = new Set(Array.from({ length: 60 }, () => pick(books, random, undefined, fits)?.book))
    assert.equal([...chosen].sort(), [...wanted].sort())
    assert.is(
      pick(books, random, undefined, () => false),
      undefined,
    )
  }
})

test('nothing is picked from nothing, without a draw', () => {
  const [random, other] = [seededRandom(3), seededRandom(3)]
  assert.is(pickFrom(random, []), undefined)
  assert.is(random.int(0, 1e6), other.int(0, 1e6))
  assert.ok([1, 2].includes(pickFrom(random, [1, 2])!))
})

test('dates cross months, years and leap days, and moving back undoes it', () => {
  assert.is(addDays('2026-02-28', 1), '2026-03-01')
  assert.is(addDays('2028-02-28', 1), '2028-02-29')
  assert.is(addDays('2026-01-01', -1), '2025-12-31')
  assert.is(addMinutes('2026-12-31T23:59:00Z', 1), '2027-01-01T00:00:00Z')
  fc.assert(
    fc.property(fc.integer({ min: -5000, max: 5000 }), (n) => {
      assert.is(addDays(addDays('2026-03-02', n), -n), '2026-03-02')
      assert.is(minutesBetween('2026-03-02T09:00:00Z', addMinutes('2026-03-02T09:00:00Z', n)), n)
    }),
  )
})

test('a week has five workdays', () => {
  const week = Array.from({ length: 7 }, (_, i) => isWorkday(addDays('2026-03-02', i)))
  assert.equal(week, [true, true, true, true, true, false, false])
})

test('times of day and minutes since midnight are two ways to write the same', () => {
  assert.is(clockOf(0), '00:00')
  assert.is(clockOf(545), '09:05')
  for (let minutes = 0; minutes < 1440; minutes++) assert.is(minutesOf(clockOf(minutes)), minutes)
})

test('a name as a key has small letters, digits and single hyphens', () => {
  assert.is(slug('Ana Lima'), 'ana-lima')
  assert.is(slug("  Max & Sons' No. 7 "), 'max-sons-no-7')
  assert.is(slug('?'), '')
})

test('a vocabulary is split at any white space', () => {
  assert.equal(wordList('\n  red green\n  blue '), ['red', 'green', 'blue'])
})

test('a search finds what has every word, in any order and case', () => {
  assert.ok(mentions('Ana Lima', 'LIMA ana'))
  assert.ok(mentions('Ana Lima', 'im'))
  assert.not(mentions('Ana Lima', 'ana costa'))
  assert.ok(mentioning('Lima  Ana')('ana lima'))
  assert.not(mentioning('lima')('Ana Lima'), 'the text is expected in lower case')
})

test('numbers for keys have two digits and never repeat', () => {
  const numbers = twoDigitNumbers(seededRandom(4), 90)
  assert.equal(
    [...numbers].sort((a, b) => a - b),
    Array.from({ length: 90 }, (_, i) => i + 10),
  )
  assert.is(twoDigitNumbers(seededRandom(4), 7).length, 7)
  assert.equal(twoDigitNumbers(seededRandom(5), 9), twoDigitNumbers(seededRandom(5), 9))
})

test('an order goes by its first field in which two rows differ, and its opposite keeps equal rows in place', () => {
  const day = fc.record({ date: fc.constantFrom('2026-03-02', '2026-03-10'), hour: fc.nat({ max: 3 }), row: fc.nat() })
  fc.assert(
    fc.property(fc.array(day, { maxLength: 10 }), (days) => {
      const rows = days.map((entry, row) => ({ ...entry, row }))
      const keyOf = ({ date, hour }: (typeof rows)[number]): string => `${date} ${hour}`
      const byKey = (sign: 1 | -1) =>
        rows.toSorted((a, b) => (keyOf(a) === keyOf(b) ? a.row - b.row : keyOf(a) < keyOf(b) ? -sign : sign))
      assert.equal(rows.toSorted(ascending('date', 'hour')), byKey(1))
      assert.equal(rows.toSorted(descending('date', 'hour')), byKey(-1))
    }),
    { seed: 20260302 },
  )
})

test('an excerpt is never longer than asked for, and a text that fits is left as it is', () => {
  assert.is(excerpt('Bring the keys.', 15), 'Bring the keys.')
  assert.is(excerpt('Bring the keys.', 14), 'Bring the k...')
})

test('the time of an instant is its hour and minute', () => assert.is(timeOf('2026-03-02T09:05:59Z'), '09:05'))

test.run()
