import { z } from 'zod'
import {
  defineEnvironment,
  type EnvironmentSpec,
  ref,
  type Session,
  sensitive,
  toolMaker,
} from '../../servers/kernel/index.js'

/** A small environment for tests of the kernel: a library that lends books to readers. */

const book = z.object({
  book: z.string(),
  title: z.string(),
  shelf: z.string(),
  loans: z.int().min(0),
})
const loan = z.object({ loan: z.string(), book: z.string(), reader: z.string(), due: z.string() })
const tables = {
  books: { row: book, key: 'book' },
  loans: { row: loan, key: 'loan', missing: 'unknown_loan' },
} as const
const failures = {
  unknown_book: 'The library has no such book.',
  unknown_loan: 'There is no such loan.',
  already_lent: 'Somebody else has the book.',
  closed: 'The reading room is closed.',
}
const tool = toolMaker(tables, failures)

const found = z.object({ book: ref('book'), title: z.string() })

export const tools = {
  listBooks: tool({
    name: 'list_books',
    description: 'List the books of a shelf.',
    input: z.strictObject({ shelf: z.string().optional() }),
    output: z.object({ books: z.array(found) }),
    annotations: { readOnly: true },
    sample: ({ db, random }) => ({ shelf: random.pick(db.books.list()).shelf }),
    run: ({ shelf }, { db }) => ({
      books: db.books
        .list((row) => shelf === undefined || row.shelf === shelf)
        .map(({ book, title }) => ({ book, title })),
    }),
  }),
  lendBook: tool({
    name: 'lend_book',
    description: 'Lend a book to a reader.',
    input: z.strictObject({
      book: ref('book', 'Key of the book'),
      reader: z.string().min(1),
      weeks: z.int().optional(),
    }),
    output: z.object({ loan: ref('loan'), due: z.string(), lucky_number: z.int() }),
    annotations: { readOnly: false },
    establishes: ['something_lent'],
    sample: ({ db, random, bound }) => {
      const free = db.books.list((row) => db.loans.count((other) => other.book === row.book) === 0)
      const key = bound.book ?? (free.length > 0 ? random.pick(free).book : undefined)
      return key === undefined ? null : { book: key, reader: random.pick(['Ada', 'Bo', 'Cleo']) }
    },
    run: ({ book: key, reader, weeks = 2 }, { db, today, nextId, random, fail, unless }) => {
      // The key is drawn and the counter of the book increased before the check: a failed call must undo both.
      const row = db.books.get(key) ?? fail('unknown_book')
      const due = new Date(Date.parse(today()) + weeks * 7 * 86_400_000).toISOString().slice(0, 10)
      const made = db.loans.insert({ loan: nextId('loan'), book: key, reader, due })
      db.books.update(key, { loans: row.loans + 1 })
      const isLent = db.loans.count((other) => other.book === key) > 1
      unless(isLent ? { code: 'already_lent', detail: `${row.title} is with another reader.` } : undefined)
      return { loan: made.loan, due, lucky_number: random.int(0, 1_000_000) }
    },
  }),
  returnBook: tool({
    name: 'return_book',
    description: 'Take a book back.',
    input: z.strictObject({ loan: ref('loan') }),
    output: z.object({ book: ref('book').nullable(), at: z.string() }),
    annotations: { readOnly: false, destructive: true, idempotent: false },
    sample: ({ db, random, bound }) => {
      const all = db.loans.list()
      const key = bound.loan ?? (all.length > 0 ? random.pick(all).loan : undefined)
      return key === undefined ? null : { loan: key }
    },
    run: ({ loan: key }, { db, rowOf, now }) => {
      const row = rowOf('loans', key)
      db.loans.remove(key)
      const { loans } = db.books.get(row.book)!
      db.books.update(row.book, { loans: loans - 1 })
      return { book: row.book, at: now() }
    },
  }),
  readStatistics: tool({
    name: 'read_statistics',
    description: 'Read how often books were lent.',
    input: z.strictObject({ pin: sensitive(z.string()) }),
    output: z.object({ lent: z.int() }),
    annotations: { readOnly: true },
    needs: ['something_lent'],
    sample: () => ({ pin: '1234' }),
    run: (_, { db }) => ({ lent: db.books.list().reduce((sum, row) => sum + row.loans, 0) }),
  }),
  burnDown: tool({
    name: 'burn_down',
    description: 'Breaks in one of several ways: a world with a bug.',
    input: z.strictObject({ how: z.string() }),
    output: z.object({ ashes: z.literal('cold') }),
    annotations: { readOnly: false },
    sample: () => null,
    run: ({ how }, { db, fail, nextId }) => {
      db.books.update('moby-dick', { shelf: 'ashes' })
      nextId('loan')
      if (how === 'throwing') throw new TypeError('no water')
      if (how === 'undeclared failure') fail('fire' as 'closed')
      if (how === 'duplicate key') db.books.insert(db.books.get('emma')!)
      if (how === 'missing row') db.books.update('no-such-book', { shelf: 'a' })
      if (how === 'removing nothing') db.books.remove('no-such-book')
      if (how === 'changing a key') db.books.update('emma', { book: 'emma-2' })
      return { ashes: 'hot' as 'cold' }
    },
  }),
}

export const librarySpec: EnvironmentSpec<typeof tables> = {
  name: 'library',
  title: 'Village library',
  description: 'Books and who has them.',
  tables,
  entities: { book: { noun: 'book', table: 'books', label: 'title' }, loan: { noun: 'loan', table: 'loans' } },
  failures,
  tools: Object.values(tools),
  invariants: [
    {
      name: 'loans are counted',
      check: ({ books, loans }) => {
        const wrong = books.find((row) => row.loans !== loans.count((other) => other.book === row.book))
        return wrong && `${wrong.book} counts ${wrong.loans}`
      },
    },
  ],
  seed: ({ random }) => ({
    books: ['moby-dick', 'emma', 'dracula', 'walden'].map((key, i) => ({
      book: key,
      title: key.replace('-', ' '),
      shelf: i < 2 ? 'a' : random.pick(['b', 'c']),
      loans: 0,
    })),
    loans: [],
  }),
}

export const library = defineEnvironment(librarySpec)

/** Makes a call that must succeed. */
export function succeed(
  session: Session,
  name: string,
  args: Record<string, unknown>,
): Readonly<Record<string, unknown>> {
  const result = session.call(name, args)
  if (!result.ok) throw new Error(`${name}: ${result.code}: ${result.message}`)
  return result.output
}
