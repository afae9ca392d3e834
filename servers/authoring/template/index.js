// A small environment: things that are lent and given back. It is plain JavaScript and needs no build.
//
//   prove-server check .          checks it
//   prove-server . --port 8080    serves it over MCP
//
// It is made with the kit. It may have more files, and it imports nothing else. How users ask for its tools is in speech.yaml.

/** @param kit  see docs/environments/write.md of prove-swarm */
export default ({ z, addDays, ascending, choose, common, defineEnvironment, ref, toolMaker }) => {
  const tables = {
    items: {
      row: z.object({ item: z.string(), title: z.string(), shelf: z.string() }),
      key: 'item',
      missing: 'unknown_item',
    },
    loans: {
      row: z.object({ loan: z.string(), item: z.string(), title: z.string(), borrower: z.string(), due: z.string() }),
      key: 'loan',
      missing: 'unknown_loan',
    },
  }
  const failures = {
    unknown_item: 'There is no such item.',
    unknown_loan: 'There is no such loan.',
    already_lent: 'Somebody else has it.',
    too_many_loans: 'Nobody may have more than three items.',
  }
  const tool = toolMaker(tables, failures)

  const MOST_LOANS = 3
  const DAYS = 14
  const SHELVES = ['red', 'green', 'blue']
  const PEOPLE = ['Ana', 'Bo', 'Chidi', 'Dana', 'Emil']

  // A rule returns what prevents a call. Both run and sample use it.
  const lendingObstacle = ({ loans }, item, borrower) => {
    const lent = loans.by('item', item)[0]
    if (lent) return { code: 'already_lent', detail: `${lent.borrower} has it until ${lent.due}.` }
    if (loans.by('borrower', borrower).length >= MOST_LOANS) return { code: 'too_many_loans' }
  }

  const listItems = tool({
    name: 'list_library_items',
    description: 'List what stands on a shelf, by title.',
    input: z.strictObject({ shelf: z.enum(SHELVES).describe('Colour of the shelf.') }),
    output: z.object({ items: z.array(z.object({ item: ref('item'), title: z.string(), lent: z.boolean() })) }),
    // Five entries per page: the kernel cuts the list and adds the argument page.
    pages: { items: 'short' },
    annotations: { readOnly: true },
    sample: ({ random, bound }) => ({ shelf: bound.shelf ?? random.pick(SHELVES) }),
    run: ({ shelf }, { db }) => {
      const items = [...db.items.by('shelf', shelf)].sort(ascending('title'))
      return {
        items: items.map(({ item, title }) => ({ item, title, lent: db.loans.by('item', item).length > 0 })),
      }
    },
  })

  const lendItem = tool({
    name: 'lend_library_item',
    description: `Lend an item to somebody for ${DAYS} days.`,
    // A key needs no description: the kernel writes one.
    input: z.strictObject({ item: ref('item'), borrower: z.string().min(1).max(40).describe('Who gets it.') }),
    output: z.object({ loan: ref('loan'), title: z.string(), due: common('date', z.iso.date()) }),
    annotations: { readOnly: false },
    // A fact that is true after the call, and that other tools need.
    establishes: ['something_lent'],
    sample: ({ db, random, bound }) => {
      const borrower = bound.borrower ?? random.pick(PEOPLE)
      const row = choose(db.items, random, bound.item, ({ item }) => !lendingObstacle(db, item, borrower))
      return row ? { item: row.item, borrower } : null
    },
    run: ({ item, borrower }, { db, today, nextId, rowOf, unless }) => {
      const { title } = rowOf('items', item)
      unless(lendingObstacle(db, item, borrower))
      const due = addDays(today(), DAYS)
      const { loan } = db.loans.insert({ loan: nextId('loan'), item, title, borrower, due })
      return { loan, title, due }
    },
  })

  const listLoans = tool({
    name: 'list_library_loans',
    description: 'List what somebody has, or all loans, those first that are due first.',
    input: z.strictObject({ borrower: z.string().min(1).max(40).optional().describe('Only what this person has.') }),
    output: z.object({ loans: z.array(z.object({ loan: ref('loan'), title: z.string(), due: z.string() })) }),
    pages: { loans: 'short' },
    annotations: { readOnly: true },
    needs: ['something_lent'],
    sample: ({ random }) => (random.chance(0.5) ? { borrower: random.pick(PEOPLE) } : {}),
    run: ({ borrower }, { db }) => {
      const loans = db.loans.list((row) => borrower === undefined || row.borrower === borrower)
      return { loans: loans.sort(ascending('due', 'loan')).map(({ loan, title, due }) => ({ loan, title, due })) }
    },
  })

  const endLoan = tool({
    name: 'end_library_loan',
    description: 'Take an item back.',
    input: z.strictObject({ loan: ref('loan') }),
    output: z.object({ item: ref('item'), title: z.string() }),
    annotations: { readOnly: false },
    sample: ({ db, random, bound }) => {
      const row = choose(db.loans, random, bound.loan)
      return row ? { loan: row.loan } : null
    },
    run: ({ loan }, { db, rowOf }) => {
      const { item, title } = rowOf('loans', loan)
      db.loans.remove(loan)
      return { item, title }
    },
  })

  return defineEnvironment({
    name: 'library',
    title: 'Library',
    description: 'Things on shelves, and who has borrowed them.',
    tables,
    entities: {
      item: { noun: 'item', table: 'items', label: 'title' },
      loan: { noun: 'loan', table: 'loans', label: 'title' },
    },
    failures,
    tools: [listItems, lendItem, listLoans, endLoan],
    invariants: [
      {
        name: 'nothing is lent twice',
        check: ({ loans }) => loans.find(({ item }) => loans.by('item', item).length > 1)?.item,
      },
      {
        name: 'nobody has more than three items',
        check: ({ loans }) =>
          loans.find(({ borrower }) => loans.by('borrower', borrower).length > MOST_LOANS)?.borrower,
      },
      {
        name: 'items stay',
        check: ({ items }, seed) =>
          items.count() === seed.items.count() ? undefined : `${items.count()} are left of ${seed.items.count()}`,
      },
    ],
    seed: ({ random, start }) => {
      const titles = [
        'Atlas',
        'Drill',
        'Kite',
        'Ladder',
        'Lantern',
        'Lexicon',
        'Microscope',
        'Sewing Kit',
        'Telescope',
        'Tent',
      ]
      const items = random.shuffle(titles).map((title, i) => ({
        item: `item-${random.int(1, 9)}${i}`,
        title,
        shelf: SHELVES[i % SHELVES.length],
      }))
      const loans = random.sample(items, 3).map(({ item, title }, i) => ({
        loan: `loan-${random.int(1, 9)}${i}`,
        item,
        title,
        borrower: PEOPLE[i],
        due: addDays(start.slice(0, 10), random.int(1, DAYS)),
      }))
      return { items, loans }
    },
  })
}
