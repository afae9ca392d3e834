import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { denotes } from '../../../tasks/synthesis/wording/value-meaning.js'

const test = suite('what a phrase denotes')
/** A Monday. */
const TODAY = '2026-03-02'
const is = (phrase: string, value: string | number | boolean | string[]) =>
  assert.ok(denotes(phrase, value, TODAY), `"${phrase}" should denote ${value}`)
const isNot = (phrase: string, value: string | number | boolean | string[]) =>
  assert.not.ok(denotes(phrase, value, TODAY), `"${phrase}" should not denote ${value}`)

test('reads dates as people write them', () => {
  for (const phrase of [
    '2026-03-09',
    '9 March',
    '9th March',
    'March 9',
    'Mar 9th',
    '9 March 2026',
    'March 9, 2026',
    'monday, march 9',
    'Monday 9 March',
    '9th of March',
  ])
    is(phrase, '2026-03-09')
  isNot('Tuesday 9 March', '2026-03-09')
  isNot('9 March 2025', '2026-03-09')
  isNot('09.03.2026', '2026-03-09')
  is('31 December 2025', '2025-12-31')
  isNot('31 December', '2025-12-31')
})

test('takes a relative day only where no other can be meant', () => {
  is('today', '2026-03-02')
  is('tomorrow', '2026-03-03')
  is('yesterday', '2026-03-01')
  is('Friday', '2026-03-06')
  is('this Friday', '2026-03-06')
  is('next Monday', '2026-03-09')
  is('Wednesday next week', '2026-03-11')
  isNot('next Friday', '2026-03-06')
  isNot('next Friday', '2026-03-13')
  isNot('Monday', '2026-03-09')
  isNot('constructor', '2026-03-09')
})

test('reads months and times of day', () => {
  is('March', '2026-03')
  is('this month', '2026-03')
  is('last month', '2026-02')
  is('December 2025', '2025-12')
  isNot('December', '2025-12')
  is('2:30 pm', '14:30')
  is('3pm', '15:00')
  is('noon', '12:00')
  is('12:15 pm', '12:15')
  isNot('2:30', '14:30')
  isNot('13 pm', '13:00')
})

test('takes numbers, words and lists to the letter', () => {
  is('250', 250)
  isNot('250', 25)
  isNot('250', '2500')
  isNot('1e3', 1000)
  is('in progress', 'in_progress')
  isNot('In progress', 'in_progress')
  is('Rent Fund', 'Rent Fund')
  isNot('rent fund', 'Rent Fund')
  is('red, green and blue', ['red', 'green', 'blue'])
  isNot('red and green', ['red', 'green', 'blue'])
  isNot('salt and pepper', ['salt and pepper'])
  isNot('', '')
})

test.run()
