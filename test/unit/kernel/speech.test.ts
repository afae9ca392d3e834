import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DataFileError, packageFile } from '../../../servers/data-file.js'
import { environmentSha256 } from '../../../servers/kernel/index.js'
import { readSpeech, readSpeechFile, withSpeech } from '../../../servers/load-speech.js'
import { CATALOGUE } from '../../support/catalogue.js'
import { library } from '../../support/library-environment.js'

const test = suite('speech of an environment')

const folder = mkdtempSync(join(tmpdir(), 'prove-speech-'))
test.after(() => rmSync(folder, { recursive: true }))

const GOOD = `list_books:
  ask:
    - list the books[ of the shelf {shelf}]
lend_book:
  goal: lend a book
  answer: It is lent until {due}.
  next:
    - return_book
  ask:
    - lend {book} to {reader}[ for {weeks} weeks]
  further:
    ask:
      - (give|hand) {book} to {reader}[ for {weeks} weeks]
    goals: []
return_book:
  ask: [ 'take back {loan}' ]
read_statistics:
  ask: [ 'read the statistics with the PIN {pin}' ]
burn_down:
  ask: [ 'burn it down by {how}' ]
`

const read = (text: string) => {
  const file = join(folder, 'speech.yaml')
  writeFileSync(file, text)
  return readSpeechFile(library, file, 'speech.yaml')
}

function complaintAbout(text: string): string {
  try {
    read(text)
  } catch (error) {
    assert.instance(error, DataFileError)
    return (error as DataFileError).detail
  }
  return 'no complaint'
}

test('is read with the clauses in their order', () => {
  const { speech, at, undecided } = read(GOOD)
  assert.equal(speech.get('lend_book'), {
    goal: 'lend a book',
    answer: 'It is lent until {due}.',
    next: ['return_book'],
    ask: ['lend {book} to {reader}[ for {weeks} weeks]'],
    further: { ask: ['(give|hand) {book} to {reader}[ for {weeks} weeks]'], goals: [] },
  })
  assert.equal(speech.get('list_books')!.further, { ask: [], goals: [] })
  assert.is(at(['lend_book', 'ask', 0]), 'speech.yaml:10')
  assert.is(at(['lend_book', 'further']), 'speech.yaml:11')
  assert.equal(undecided, [])
})

test('is named as undecided, with the line of the entry', () => {
  const { undecided } = read(GOOD.replace('  goal: lend a book', '  undecided: who may borrow\n  goal: lend a book'))
  assert.equal(undecided.length, 1)
  assert.match(undecided[0]!, /^speech\.yaml:5: the speech of lend_book is undecided: who may borrow\./)
})

for (const [what, from, to, complaint] of [
  ['a tool without an entry', /burn_down:\n.*\n/, '', /^speech\.yaml: the tool burn_down has no entry/],
  ['an entry for an unknown tool', 'burn_down:', 'burn_up:', /^speech\.yaml:19: .* has no tool "burn_up"/],
  ['no clause', "[ 'take back {loan}' ]", '[]', /^speech\.yaml:16: return_book\.ask: no clause asks for the tool/],
  [
    'a clause that leaves out a required field',
    'to {reader}[ for {weeks} weeks]\n  further',
    'to somebody\n  further',
    /^speech\.yaml:10: lend_book: the clause "lend \{book\} to somebody" leaves out \{reader\}; every clause names/,
  ],
  [
    'a clause with a required field in brackets',
    ' to {reader}[ for {weeks} weeks]\n  further',
    '[ to {reader}]\n  further',
    /speech\.yaml:10: .* leaves out \{reader\}/,
  ],
  [
    'an unknown field',
    'take back {loan}',
    'take back {loan} in {town}',
    /speech\.yaml:16: .* names \{town\}, which is not an argument; the arguments are loan/,
  ],
  [
    'an inherited name as a field',
    'take back {loan}',
    'take back {loan}, {constructor}',
    /names \{constructor\}, which is not/,
  ],
  [
    'an optional field outside brackets',
    '{reader}[ for {weeks} weeks]\n  further',
    '{reader} for {weeks} weeks\n  further',
    /speech\.yaml:10: .* the optional \{weeks\} outside brackets/,
  ],
  [
    'one alternative of a choice that leaves out a field',
    '(give|hand) {book} to {reader}',
    'give {book} to (a friend|{reader})',
    /speech\.yaml:13: .*"give \{book\} to a friend.*" leaves out \{reader\}/,
  ],
  ['an answer with an unknown field', '{due}.', '{town}.', /^speech\.yaml:6: lend_book: the answer names town/],
  ['an answer that does not parse', 'until {due}.', 'until [{due}.', /^speech\.yaml:6: lend_book: "\]" is missing/],
  ['an unknown next tool', '- return_book', '- burn_book', /^speech\.yaml:8: lend_book: `next` names "burn_book"/],
  [
    'an optional field that is always said',
    '  next:\n    - return_book',
    '  said:\n    - weeks',
    /`said` names "weeks"/,
  ],
  [
    'a check that changes something',
    '  next:',
    '  checks:',
    /^speech\.yaml:8: lend_book: `checks` names "return_book"/,
  ],
  [
    'a change from which users go on elsewhere',
    '  next:\n    - return_book',
    '  elsewhere:\n    - maps:plan_route',
    /^speech\.yaml:7: lend_book: only a read-only tool can have `elsewhere`/,
  ],
  ['a goal without an answer', '  answer: It is lent until {due}.\n', '', /^speech\.yaml:4: .*give both `goal` and/],
  ['an unknown key', '  goal: lend', '  gaol: lend', /^speech\.yaml:4: lend_book: Unrecognized key: "gaol"/],
  ['two entries for one tool', 'burn_down:', 'list_books:', /^speech\.yaml:19: Map keys must be unique/],
  ['text that is not YAML', '  goal: lend a book', '  goal: [lend', /^speech\.yaml:\d+: /],
] as const) {
  test(`is rejected for ${what}, with the line`, () => {
    assert.ok(GOOD.replace(from, to) !== GOOD, 'the sample contains the text to replace')
    assert.match(complaintAbout(GOOD.replace(from, to)), complaint)
  })
}

test('is rejected with every defect at once', () => {
  const text = GOOD.replace('take back {loan}', 'take it back').replace('by {how}', 'quickly')
  assert.equal(
    complaintAbout(text)
      .split('\n')
      .map((line) => line.slice(0, 15)),
    ['speech.yaml:16:', 'speech.yaml:20:'],
  )
})

test('is missing with a hint where to write it', () => {
  assert.throws(
    () => readSpeechFile(library, join(folder, 'none.yaml')),
    /none\.yaml: the file does not exist; write one/,
  )
})

test('of every environment of the project fits its tools and is complete', () => {
  for (const environment of CATALOGUE.values()) {
    const { speech, undecided } = readSpeech(environment)
    assert.equal(
      [...speech.keys()],
      environment.tools.map(({ name }) => name),
      'entries in the order of the tools',
    )
    assert.equal(undecided, [])
    for (const [tool, { goal, answer }] of speech) assert.ok(goal !== undefined && answer !== undefined, tool)
  }
})

test('is read once, and is no part of the hash by which programs compare environments', () => {
  const banking = CATALOGUE.get('banking')!
  assert.is(withSpeech(banking), withSpeech(banking))
  assert.is(environmentSha256(withSpeech(banking)), environmentSha256(banking))
  assert.match(packageFile('servers/banking/speech.yaml'), /servers.banking.speech\.yaml$/)
})

test.run()
