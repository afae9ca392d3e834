import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { exampleOf, groundTruthScript, parseTask, type Task, toolsetOf } from '../../episode/index.js'
import { score, solvedExactly } from '../../reward/index.js'
import { CATALOGUE } from '../../servers/catalogue.js'
import {
  createWorldCache,
  defineServer,
  dependencyGraph,
  entitiesIn,
  generateWorld,
  Session,
  seededRandom,
} from '../../servers/kernel/index.js'
import {
  type Chain,
  chainsOf,
  demonstrate,
  MAX_CHAIN,
  MIN_CHAIN,
  makeTask,
  NO_FLAWS,
  type Split,
  SynthesisError,
  splitChains,
  synthesise,
} from '../../synthesis/index.js'
import { library, librarySpec, tools } from './library-world.js'
import { play, stageOf } from './scripted.js'

const servers = [...CATALOGUE.values()]
const worlds = createWorldCache(256)
const make = (split: Split, count: number, seed = 1): Task[] => [...synthesise(servers, worlds, { seed, split, count })]
const tasks = { train: make('train', 48), 'held-out': make('held-out', 48) }
const all = [...tasks.train, ...tasks['held-out']]

/** The calls of a task on a fresh session of its world, one after the other. */
function replayed(task: Task) {
  const server = CATALOGUE.get(task.chain.split(':')[0]!)!
  const { seed } = task.worlds.find((world) => world.server === server.name)!
  const session = worlds.open(server, seed)
  return task.groundTruth.map((call) => {
    const result = session.call(call.name, call.arguments)
    return { call, result, tool: server.toolsByName.get(call.name)! }
  })
}

test('the same seed makes the same tasks, and another seed or split makes others', () => {
  assert.equal(make('train', 24), tasks.train.slice(0, 24))
  assert.equal([...synthesise(servers, createWorldCache(1), { seed: 1, split: 'train', count: 24 })], make('train', 24))
  const ids = new Set(all.map(({ id }) => id))
  assert.is(ids.size, all.length)
  for (const { id } of make('train', 24, 2)) assert.not(ids.has(id))
})

test('servers take turns', () => {
  for (const list of Object.values(tasks)) {
    for (const [i, task] of list.entries()) {
      assert.is(task.chain.split(':')[0], servers[i % servers.length]!.name)
    }
  }
})

test('a task passes its own parser', () => {
  for (const task of all) assert.equal(parseTask(JSON.parse(JSON.stringify(task))), task)
})

test('every ground truth replays with reward exactly 1.3 and solves its task', () => {
  for (const task of all) {
    const log = replayed(task).map(({ call, result }) => ({
      name: call.name,
      arguments: call.arguments,
      ok: result.ok,
    }))
    assert.is(score(exampleOf(task, toolsetOf(task, CATALOGUE)), log).total, 1.3, task.id)
    assert.ok(solvedExactly(task.groundTruth, log))
  }
})

test('a policy that says the ground truth earns 1.3 in the episode driver', async () => {
  const stage = stageOf(servers)
  for (const task of [...tasks.train.slice(0, 8), ...tasks['held-out'].slice(0, 8)]) {
    const { reward, solved, end } = await play(task, groundTruthScript(task), stage)
    assert.is(reward.total, 1.3)
    assert.is(solved, true)
    assert.is(end, 'finished')
  }
})

test('the calls of a task are its chain, and the edges lead to the nearest earlier prerequisites', () => {
  for (const task of all) {
    const [server, path] = task.chain.split(':') as [string, string]
    assert.is(task.groundTruth.map(({ name }) => name).join('>'), path)
    const graph = dependencyGraph(CATALOGUE.get(server)!)
    for (const [i, call] of task.groundTruth.entries()) {
      const before = task.groundTruth.slice(0, i)
      const wanted = [...before.keys()].filter((j) => graph.prerequisites(call.name).has(before[j]!.name))
      assert.equal([...call.after].sort(), wanted, task.chain)
      if (i > 0) assert.ok(call.after.includes(i - 1), 'each call depends on the one before it')
    }
  }
})

test('calls are asked for in order, and every user turn asks for at least one', () => {
  for (const { turns, groundTruth } of all) {
    const order = groundTruth.map(({ turn }) => turn)
    assert.equal(order, [...order].sort())
    assert.equal([...new Set(order)], [...turns.keys()])
  }
  assert.ok(all.some(({ turns }) => turns.length === 2))
  assert.ok(all.some(({ turns }) => turns.length === 1))
})

test('what a user says leaks no placeholder and no absent value', () => {
  for (const task of all) {
    for (const turn of task.turns) {
      for (const leak of ['{', '}', '[', ']', 'undefined', 'null', 'NaN', '[object', '  ']) {
        assert.not(turn.includes(leak), `"${leak}" in: ${turn}`)
      }
      assert.match(turn, /^[A-Z]/)
      assert.match(turn, /[^.?][.?]$/)
    }
  }
})

/** The pieces of text in which a value must appear: a list is said element by element. */
const pieces = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)])

test('every argument value stands in what the user said so far, or in the result of the call before', () => {
  let bound = 0
  for (const task of all) {
    const steps = replayed(task)
    for (const [i, { call, tool }] of steps.entries()) {
      const said = task.turns.slice(0, call.turn + 1).join('\n')
      const previous = steps[i - 1]
      const produced =
        previous?.result.ok === true
          ? entitiesIn(previous.tool.output, previous.result.output).map(({ key }) => key)
          : []
      for (const [field, value] of Object.entries(call.arguments)) {
        const missing = pieces(value).filter((piece) => !said.includes(piece))
        if (missing.length === 0) continue
        bound++
        assert.ok(
          missing.every((piece) => produced.includes(piece)),
          `${tool.name}.${field}=${value} in: ${said}`,
        )
      }
    }
  }
  assert.ok(bound > all.length / 4, `only ${bound} arguments came from results`)
})

test('a toolset holds the chain among others, each name once, with a session for every server', () => {
  for (const task of all) {
    const names = task.toolset.map(({ tool }) => tool)
    assert.is(new Set(names).size, names.length)
    assert.ok(names.length >= 4 && names.length <= 6)
    for (const { name } of task.groundTruth) assert.ok(names.includes(name))
    assert.equal(
      task.worlds.map(({ server }) => server),
      [...new Set(task.toolset.map(({ server }) => server))].sort(),
    )
  }
  assert.ok(
    all.some(({ worlds: used }) => used.length === 2),
    'no toolset ever had a foreign tool',
  )
})

test('the worlds of the two splits are disjoint', () => {
  for (const [split, parity] of [
    ['train', 0],
    ['held-out', 1],
  ] as const) {
    for (const task of [...tasks[split], ...make(split, 24, 99)]) {
      for (const { seed } of task.worlds) assert.is(seed % 2, parity)
    }
  }
})

test('no held-out chain occurs in training, not even as a part', () => {
  for (const server of servers) {
    const { train, heldOut } = splitChains(server)
    assert.ok(train.length > 0 && heldOut.length > 0)
    const wrapped = train.map(({ tools: path }) => `>${path.join('>')}>`)
    const held = new Set(heldOut.map(({ tools: path }) => `>${path.join('>')}>`))
    for (const chain of wrapped) {
      const path = chain.slice(1, -1).split('>')
      for (let from = 0; from < path.length; from++) {
        for (let to = from + 1; to <= path.length; to++) {
          assert.not(held.has(`>${path.slice(from, to).join('>')}>`), `${server.name}: ${chain}`)
        }
      }
    }
  }
  const heldNames = new Set(servers.flatMap((server) => splitChains(server).heldOut.map(({ name }) => name)))
  for (const { chain } of tasks.train) assert.not(heldNames.has(chain))
  for (const { chain } of tasks['held-out']) assert.ok(heldNames.has(chain))
})

test('chains are the simple paths of the dependency graph, each once, of two to four tools', () => {
  for (const server of servers) {
    const graph = dependencyGraph(server)
    const chains = chainsOf(server)
    assert.is(new Set(chains.map(({ name }) => name)).size, chains.length)
    for (const { tools: path } of chains) {
      assert.ok(path.length >= MIN_CHAIN && path.length <= MAX_CHAIN)
      assert.is(new Set(path).size, path.length)
      for (const [i, tool] of path.slice(1).entries()) assert.ok(graph.prerequisites(tool).has(path[i]!))
    }
    const pairs = new Set(graph.edges.map(({ from, to }) => `${from}>${to}`))
    assert.is(chains.filter(({ tools: path }) => path.length === 2).length, pairs.size)
  }
})

test('which chains are held out depends on their names alone', () => {
  const reversed = defineServer({ ...librarySpec, tools: [...librarySpec.tools].reverse() })
  const names = (list: readonly Chain[]): string[] => list.map(({ name }) => name).sort()
  assert.equal(names(splitChains(reversed).heldOut), names(splitChains(library).heldOut))
  assert.equal(names(splitChains(reversed).train), names(splitChains(library).train))
})

test('chain lengths follow their weights', () => {
  const [, ...pairs] = [
    ...synthesise(servers, worlds, { seed: 5, split: 'train', count: 12, lengthWeights: [1, 0, 0] }),
  ]
  assert.ok(pairs.every(({ groundTruth }) => groundTruth.length === 2))
  const fours = [...synthesise(servers, worlds, { seed: 5, split: 'train', count: 12, lengthWeights: [0, 0, 1] })]
  assert.ok(fours.every(({ groundTruth }) => groundTruth.length === 4))
})

const codeOf = (run: () => unknown): string => {
  try {
    run()
    return 'none'
  } catch (error) {
    if (error instanceof SynthesisError) return error.code
    throw error
  }
}

test('a server without chains, and one whose worlds have nothing to offer, are named as such', () => {
  const draw = (server: typeof library, split: Split = 'train') => [
    ...synthesise([server], createWorldCache(4), { seed: 1, split, count: 1 }),
  ]
  const lonely = defineServer({ ...librarySpec, tools: [tools.listBooks] })
  assert.is(
    codeOf(() => draw(lonely)),
    'no_chains',
  )
  const { train } = splitChains(library)
  assert.ok(train.length > 0)
  const barren = defineServer({
    ...librarySpec,
    tools: librarySpec.tools.map((tool) => ({ ...tool, sample: () => null })),
  })
  assert.is(
    codeOf(() => draw(barren)),
    'no_yield',
  )
})

test('a chain that finds nothing in a world makes no task', () => {
  const chain = chainsOf(library).find(({ name }) => name === 'library:return_book>lend_book')!
  assert.is(makeTask(chain, 1, [library], createWorldCache(1), seededRandom(1)), null)
})

test('a demonstration without flaws is the ground truth, and each flaw shows as what it is', () => {
  const task = tasks.train.find(({ groundTruth, turns }) => groundTruth.length === 3 && turns.length === 1)!
  const say = (flaws: Partial<typeof NO_FLAWS>) =>
    demonstrate(task, { ...NO_FLAWS, ...flaws }, servers, seededRandom(1))
  const truth = groundTruthScript(task)
  assert.equal(say({}), truth)
  assert.equal(say({ stopEarly: 1 }), ['Done.'])
  assert.equal(say({ repeat: 1 }), [...truth.slice(0, 3).flatMap((text) => [text, text]), 'Done.'])
  const malformed = say({ malformed: 1 })
  assert.is(malformed.length, 7)
  assert.is(malformed[1], truth[0])
  assert.is(malformed[0], truth[0]!.replace('}}\n', '}\n'))
  const strays = say({ strayCall: 1 }).filter((_, i) => i % 2 === 0)
  const useful = new Set(task.groundTruth.map(({ name }) => name))
  for (const stray of strays.slice(0, 3)) {
    const { name } = JSON.parse(stray.split('\n')[1]!) as { name: string }
    assert.not(useful.has(name))
    assert.ok(task.toolset.some(({ tool }) => tool === name))
  }
})

test('generating the world of a task again gives the very world it was made in', () => {
  for (const task of all.slice(0, 8)) {
    const { server, seed } = task.worlds[0]!
    const fresh = Session.open(generateWorld(CATALOGUE.get(server)!, seed))
    assert.is(fresh.stateHash(), worlds.open(CATALOGUE.get(server)!, seed).stateHash())
  }
})

test.run()
