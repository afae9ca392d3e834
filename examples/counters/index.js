// An environment in 60 lines: named counters that a user lists, raises and resets. Check it: prove-server check ./examples/counters

/** @param kit  see docs/environments/write.md */
export default ({ z, ascending, choose, defineEnvironment, ref, toolMaker }) => {
  const counters = {
    row: z.object({ counter: z.string(), title: z.string(), value: z.int() }),
    key: 'counter',
    missing: 'unknown_counter',
  }
  const failures = { unknown_counter: 'There is no such counter.', at_limit: 'A counter ends at 99.' }
  const tool = toolMaker({ counters }, failures)
  const shown = z.object({ title: z.string(), value: z.int() })

  const list = tool({
    name: 'list_counters',
    description: 'List all counters with their values.',
    input: z.strictObject({}),
    output: z.object({ counters: z.array(shown.extend({ counter: ref('counter') })) }),
    pages: { counters: 'short' },
    annotations: { readOnly: true },
    sample: () => ({}),
    run: (_, { db }) => ({ counters: db.counters.list(() => true).sort(ascending('title')) }),
  })
  const raise = tool({
    name: 'raise_counter',
    description: 'Raise a counter by some steps, at most to 99.',
    input: z.strictObject({ counter: ref('counter'), steps: z.int().min(1).max(9).describe('Number of steps.') }),
    output: shown,
    annotations: { readOnly: false },
    sample: ({ db, random, bound }) => {
      const row = choose(db.counters, random, bound.counter, ({ value }) => value < 90)
      return row ? { counter: row.counter, steps: random.int(1, 9) } : null
    },
    run: ({ counter, steps }, { db, rowOf, unless }) => {
      const { title, value } = rowOf('counters', counter)
      unless(value + steps > 99 ? { code: 'at_limit' } : undefined)
      db.counters.update(counter, { value: value + steps })
      return { title, value: value + steps }
    },
  })

  return defineEnvironment({
    name: 'counters',
    title: 'Counters',
    description: 'Named counters that go up to 99.',
    tables: { counters },
    entities: { counter: { noun: 'counter', table: 'counters', label: 'title' } },
    failures,
    tools: [list, raise],
    invariants: [{ name: 'values', check: ({ counters: all }) => all.find(({ value }) => value > 99)?.counter }],
    seed: ({ random }) => ({
      counters: random.shuffle(['Visits', 'Laps', 'Cups', 'Pages']).map((title, i) => ({
        ...{ counter: `counter-${random.int(1, 9)}${i}`, title, value: random.int(0, 80) },
      })),
    }),
  })
}
