// One call per failure code that must end with this failure, for "prove-server check".
export const provoke = {
  unknown_counter: () => ['raise_counter', { counter: 'counter-0', steps: 1 }],
  at_limit: (session) => {
    const [{ counter }] = session.db.counters.list(() => true)
    for (let i = 0; i < 11; i++) session.call('raise_counter', { counter, steps: 9 })
    return ['raise_counter', { counter, steps: 9 }]
  },
}
