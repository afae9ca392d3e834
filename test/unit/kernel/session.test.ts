import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  createSeedStateCache,
  defineEnvironment,
  EnvironmentDefect,
  generateSeedState,
  SESSION_START,
  Session,
  seededRandom,
  type Table,
} from '../../../servers/kernel/index.js'
import { library, librarySpec, succeed, tools } from '../../support/library-environment.js'

const seedState = generateSeedState(library, 1)
const open = (): Session => Session.open(seedState)
const lend = (book: string, reader = 'Ada') => ['lend_book', { book, reader }] as const

test('a call that fails takes back its rows and its keys, and costs no time', () => {
  const session = open()
  const first = succeed(session, ...lend('emma'))
  const [hash, clock] = [session.stateHash(), session.now()]
  const refused = session.call(...lend('emma', 'Bo'))
  assert.equal(refused, { ok: false, code: 'already_lent', message: 'emma is with another reader.' })
  assert.is(session.stateHash(), hash)
  assert.is(session.now(), clock)
  assert.is(session.db.books!.get('emma')!.loans, 1)
  const number = (key: unknown): number => Number(String(key).split('-')[1])
  assert.is(number(succeed(session, ...lend('dracula')).loan), number(first.loan) + 1)
})

test('a failure without a detail carries the standard message of its code', () => {
  const result = open().call(...lend('ulysses'))
  assert.equal(result, { ok: false, code: 'unknown_book', message: 'The library has no such book.' })
})

test('a call that names a missing row fails with the code of its table, and says which', () => {
  const session = open()
  const missing = { ok: false, code: 'unknown_loan', message: 'There is no loan loan-1.' }
  assert.equal(session.call('return_book', { loan: 'loan-1' }), missing)
  const { loan } = succeed(session, ...lend('emma'))
  succeed(session, 'return_book', { loan })
  const gone = { ok: false, code: 'unknown_loan', message: `There is no loan ${loan}.` }
  assert.equal(session.call('return_book', { loan }), gone)
})

test('a missing row is called by the noun of its entity or, without one, by the name of its key', () => {
  const { book } = librarySpec.entities
  const messageFor = (entities: typeof librarySpec.entities) => {
    const session = Session.open(generateSeedState(defineEnvironment({ ...librarySpec, entities }), 1))
    const result = session.call('return_book', { loan: 'loan-1' })
    return result.ok ? '' : result.message
  }
  assert.is(messageFor({ book: book!, loan: { noun: 'lent book', table: 'loans' } }), 'There is no lent book loan-1.')
  assert.is(messageFor({ book: book! }), 'There is no loan loan-1.')
})

test('an unknown tool and arguments that do not fit are refused, not thrown', () => {
  const session = open()
  const code = (name: string, args: unknown): string => {
    const result = session.call(name, args)
    return result.ok ? 'ok' : result.code
  }
  for (const name of ['fly', '', 'constructor', '__proto__', 'toString'])
    assert.is(code(name, {}), 'unknown_tool', name)
  for (const args of [undefined, null, [], 'emma', {}, { book: 'emma' }, { book: 1, reader: 'Ada' }]) {
    assert.is(code('lend_book', args), 'invalid_arguments', JSON.stringify(args))
  }
  assert.is(code('lend_book', { book: 'emma', reader: 'Ada', hurry: true }), 'invalid_arguments', 'an undeclared key')
  const refused = session.call('lend_book', { book: 'emma' })
  assert.match(refused.ok ? '' : refused.message, /^reader: /)
  assert.is(session.stateHash(), open().stateHash())
})

for (const how of [
  'throwing',
  'undeclared failure',
  'duplicate key',
  'missing row',
  'removing nothing',
  'changing a key',
  'wrong output',
]) {
  test(`a world that breaks by ${how} throws a defect and keeps the state it had`, () => {
    const session = open()
    succeed(session, ...lend('emma'))
    const apart = session.fork()
    const hash = session.stateHash()
    assert.throws(
      () => session.call('burn_down', { how }),
      (error: Error) => error instanceof EnvironmentDefect,
    )
    assert.is(session.stateHash(), hash)
    assert.equal(session.violations(), [])
    assert.equal(session.call(...lend('dracula')), apart.call(...lend('dracula')))
  })
}

test('the clock advances one minute per successful writing call and for nothing else', () => {
  const session = open()
  assert.is(session.now(), SESSION_START)
  succeed(session, 'list_books', {})
  session.call('fly', {})
  session.call(...lend('ulysses'))
  assert.is(session.now(), SESSION_START)
  const { loan } = succeed(session, ...lend('emma'))
  assert.is(session.now(), '2026-03-02T09:01:00Z')
  // A handler sees the time before its own minute.
  assert.is(succeed(session, 'return_book', { loan }).at, '2026-03-02T09:01:00Z')
  assert.is(session.now(), '2026-03-02T09:02:00Z')
})

test('keys count up from a start that depends on the seed', () => {
  const keys = (seed: number): string[] => {
    const session = Session.open(generateSeedState(library, seed))
    return ['emma', 'dracula', 'walden'].map((book) => String(succeed(session, ...lend(book)).loan))
  }
  const [first, ...rest] = keys(1).map((key) => Number(key.replace('loan-', '')))
  assert.ok(first! >= 100 && first! < 900)
  assert.equal(rest, [first! + 1, first! + 2])
  assert.equal(keys(1), keys(1))
  assert.is.not(keys(1)[0], keys(2)[0])
})

test('the same calls give the same results, random draws included, and another seed other draws', () => {
  const draw = (seed: number) => succeed(Session.open(generateSeedState(library, seed)), ...lend('emma')).lucky_number
  assert.is(draw(1), draw(1))
  assert.is.not(draw(1), draw(2))
})

test('the state hash ignores the clock, the key counters and the order of calls', () => {
  const [session, other] = [open(), open()]
  const start = session.stateHash()
  succeed(session, ...lend('emma'))
  const lent = session.stateHash()
  assert.is.not(lent, start)
  const { loan } = succeed(session, ...lend('dracula'))
  succeed(session, 'return_book', { loan })
  assert.is(session.stateHash(), lent, 'a row that was inserted and removed')
  succeed(other, 'list_books', {})
  succeed(other, ...lend('emma'))
  assert.is(other.stateHash(), lent)
  assert.is.not(session.now(), other.now())
})

test('the state hash is that of the canonical JSON of seed and changed rows', () => {
  const session = open()
  const { loan } = succeed(session, ...lend('emma'))
  const changed = {
    loans: { [loan as string]: session.db.loans!.get(loan as string) },
    books: { emma: session.db.books!.get('emma') },
  }
  const state = canonicalize({ environment: 'library', seed: session.seedState.seed, changed })!
  assert.is(session.stateHash(), createHash('sha256').update(state).digest('hex'))
})

test('a handler that changes a row in place breaks its world, not other sessions', () => {
  const careless = defineEnvironment({
    ...librarySpec,
    tools: [
      {
        ...tools.lendBook,
        input: tools.lendBook.input,
        run: ({ book }, { db, nextId }) => {
          const loans = db.loans as Table<Record<string, unknown>>
          const made = loans.insert({ loan: nextId('loan'), book, reader: 'Ada', due: '2026-03-09' })
          ;(made as { reader: string }).reader = 'Bo'
          return { loan: made.loan, due: '', lucky_number: 1 }
        },
      },
    ],
  })
  const session = Session.open(generateSeedState(careless, 1))
  assert.throws(() => session.call('lend_book', { book: 'emma', reader: 'Ada' }), /read only property 'reader'/)
  assert.is(session.db.loans!.count(), 0)
})

test('rows that were restored do not count as changed', () => {
  const session = open()
  const start = session.stateHash()
  const { loan } = succeed(session, ...lend('emma'))
  succeed(session, 'return_book', { loan })
  assert.is(session.stateHash(), start)
})

test('two orders of independent writes lead to one hash', () => {
  const patron = defineEnvironment({
    ...librarySpec,
    tools: [
      {
        ...tools.lendBook,
        run: ({ book }, { db }) => {
          // A loan keyed by the book itself: nothing in the row tells when it was made.
          ;(db.loans as Table<Record<string, unknown>>).insert({ loan: `of-${book}`, book, reader: 'Ada', due: 'soon' })
          return { loan: `of-${book}`, due: 'soon', lucky_number: 7 }
        },
      },
    ],
  })
  const base = generateSeedState(patron, 1)
  const books = ['emma', 'dracula', 'walden', 'moby-dick']
  fc.assert(
    fc.property(fc.shuffledSubarray(books, { minLength: 4 }), (order) => {
      const [session, sorted] = [Session.open(base), Session.open(base)]
      for (const book of order) succeed(session, ...lend(book))
      for (const book of [...order].sort()) succeed(sorted, ...lend(book))
      assert.is(session.stateHash(), sorted.stateHash())
    }),
    { numRuns: 24, seed: 20260302 },
  )
})

test('states of another seed or server never share a hash, even when untouched', () => {
  const museum = defineEnvironment({ ...librarySpec, name: 'museum' })
  const hashes = [generateSeedState(library, 1), generateSeedState(library, 2), generateSeedState(museum, 1)].map(
    (one) => Session.open(one).stateHash(),
  )
  assert.is(new Set(hashes).size, 3)
})

test('a fork continues like the original and neither sees the other', () => {
  const session = open()
  succeed(session, ...lend('emma'))
  const fork = session.fork()
  assert.is(fork.stateHash(), session.stateHash())
  assert.is(fork.now(), session.now())
  const stated = JSON.stringify(fork.call(...lend('dracula')))
  assert.is(session.db.loans!.count(), 1)
  assert.is(JSON.stringify(session.call(...lend('dracula'))), stated)
  succeed(fork, ...lend('walden'))
  assert.is(session.db.loans!.count(), 2)
})

test('sessions of one world are isolated, and seed rows are frozen', () => {
  const [ada, bo] = [open(), open()]
  succeed(ada, ...lend('emma'))
  assert.ok(bo.call(...lend('emma')).ok)
  const row = open().db.books!.get('walden') as { shelf: string }
  assert.throws(() => {
    row.shelf = 'stolen'
  }, /read only/)
})

test('violations name the broken invariant and rows that do not fit', () => {
  const careless = defineEnvironment({
    ...librarySpec,
    tools: [
      {
        ...tools.returnBook,
        input: tools.returnBook.input,
        run: (_, { db }) => {
          const books = db.books as Table<Record<string, unknown>>
          books.update('emma', { loans: 3 })
          books.update('walden', { loans: -1 })
          return { book: null, at: '' }
        },
      },
    ],
  })
  const session = Session.open(generateSeedState(careless, 1))
  assert.equal(session.violations(), [])
  succeed(session, 'return_book', { loan: 'any' })
  const found = session.violations().join('\n')
  assert.match(found, /loans are counted: emma counts 3/)
  assert.match(found, /row of books does not fit/)
})

test('a seed row that does not fit its schema, or a key that occurs twice, is a defect', () => {
  const row = { book: 'emma', title: 'Emma', shelf: 'a', loans: 0 }
  const seeded = (...books: object[]) =>
    defineEnvironment({ ...librarySpec, seed: () => ({ books: books as (typeof row)[], loans: [] }) })
  assert.ok(generateSeedState(seeded(row), 1))
  for (const [books, message] of [
    [[row, row], /key emma occurs twice/],
    [[{ ...row, loans: 'many' }], /table books/],
    [[{ book: 'emma' }], /table books/],
  ] as const) {
    assert.throws(
      () => generateSeedState(seeded(...books), 4),
      (error: Error) =>
        error instanceof EnvironmentDefect && message.test(error.message) && /seed 4/.test(error.message),
    )
  }
})

test('a sampler sees the live state and what is bound', () => {
  const session = open()
  const random = seededRandom(1)
  assert.is(session.sampleArguments(tools.returnBook, random, {}), null)
  const { loan } = succeed(session, ...lend('emma'))
  assert.equal(session.sampleArguments(tools.returnBook, random, {}), { loan })
  assert.is(session.sampleArguments(tools.lendBook, random, { book: 'walden' })!.book, 'walden')
  for (let draw = 0; draw < 20; draw++) {
    assert.is.not(session.sampleArguments(tools.lendBook, random, {})!.book, 'emma', 'a lent book is not offered')
  }
})

test('a world cache generates a world once and opens fresh sessions on it', () => {
  let generated = 0
  const counted = defineEnvironment({
    ...librarySpec,
    seed: (context) => {
      generated++
      return librarySpec.seed(context)
    },
  })
  const seedStates = createSeedStateCache(2)
  succeed(seedStates.open(counted, 1), ...lend('emma'))
  assert.is(seedStates.open(counted, 1).db.loans!.count(), 0)
  assert.is(generated, 1)
  seedStates.open(counted, 2)
  seedStates.open(counted, 3)
  seedStates.open(counted, 1)
  assert.is(generated, 4, 'the least recently used world was dropped')
})

test.run()
