import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  asksFor,
  bringsTools,
  CLOSING,
  exampleOf,
  offeredAt,
  parseTask,
  toolsetOf,
} from '../../../rollout/episode/index.js'
import { PAPER, solvedExactly } from '../../../rollout/reward/index.js'
import { createSeedStateCache, dependencyGraph } from '../../../servers/kernel/index.js'
import {
  annotationForm,
  createBaselineCheck,
  type Example,
  exampleOfRecord,
  lineOf,
  parseRecord,
  recordOf,
  verifyExample,
} from '../../../tasks/dataset/index.js'
import { createSanityCheck } from '../../../tasks/synthesis/index.js'
import { TODAY } from '../../../tasks/synthesis/making/today.js'
import { unresolvedIn } from '../../../tasks/synthesis/resolving/unresolved.js'
import { denotes } from '../../../tasks/synthesis/wording/value-meaning.js'
import { sampleExamples } from '../../support/sample-examples.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('examples for training')
const seedStates = createSeedStateCache(64)
const calling = async (): Promise<Example[]> =>
  (await sampleExamples()).filter(({ task }) => task.kind === 'multi-turn')

test('come in every kind, information level and number of turns', async () => {
  const examples = await sampleExamples()
  const seen = (of: (example: Example) => unknown) => new Set(examples.map(of))
  assert.equal([...seen(({ task }) => task.kind)].sort(), ['abstention', 'clarification', 'multi-turn'])
  assert.equal([...seen(({ information }) => information)].sort(), ['complete', 'minimal', 'missing'])
  assert.equal([...seen(({ split }) => split)].sort(), ['held-out', 'train', 'validation'])
  for (const { task } of await calling()) assert.ok(task.turns.length >= 2 && task.turns.length <= 3, task.chain)
  assert.ok(examples.some(({ recovery }) => recovery !== null))
})

test('pass their own parser and play again, call by call, with the very responses', async () => {
  for (const example of await sampleExamples()) {
    assert.equal(parseTask(JSON.parse(JSON.stringify(example.task))), example.task)
    await verifyExample(example, CATALOGUE, seedStates, new AbortController().signal)
  }
})

test('have a ground truth that earns the maximum and solves the task', async () => {
  for (const { task } of await sampleExamples()) {
    const log = task.groundTruth.map(({ name, arguments: args }) => ({ name, arguments: args, ok: true }))
    assert.is(PAPER.score(exampleOf(task, toolsetOf(task, CATALOGUE)), log).total, log.length > 0 ? 1.3 : 1, task.chain)
    assert.ok(solvedExactly(task.groundTruth, log))
  }
})

test('get more reward than wrong answers, for every example', async () => {
  const check = createSanityCheck(CATALOGUE)
  for (const example of await sampleExamples()) check.add(example)
  assert.is(check.blind, 0)
  const [truth, ...wrong] = check.finish()
  assert.is(truth!.solved, 1)
  assert.ok(wrong.length >= 4)
  for (const { policy, meanReward } of wrong) assert.ok(meanReward < 1.3, policy)
})

test('name for every argument where it can be read before its call', async () => {
  for (const { task, origins, exchanges } of await calling()) {
    for (const [i, call] of task.groundTruth.entries()) {
      for (const [field, value] of Object.entries(call.arguments)) {
        const origin = origins[i]![field]
        assert.ok(origin, `${call.name}.${field} comes from nowhere: ${task.chain}`)
        if (origin.from === 'user') {
          assert.ok(origin.turn <= call.turn, `${call.name}.${field} is said after its call`)
          assert.ok(exchanges[origin.turn]!.user.includes(origin.phrase))
          assert.ok(denotes(origin.phrase, value, '2026-03-02'), `"${origin.phrase}" is not ${JSON.stringify(value)}`)
        } else if (origin.from === 'result') {
          assert.ok(origin.call < i)
          const { response } = exchanges.flatMap(({ calls }) => calls).find(({ truth }) => truth === origin.call)!
          assert.ok(response.includes(JSON.stringify(value)), `${JSON.stringify(value)} is not in ${response}`)
        }
      }
    }
  }
})

test('have references that a reader resolves to the intended entity', async () => {
  let references = 0
  for (const example of await sampleExamples()) {
    assert.equal(unresolvedIn(example, CATALOGUE), [], example.task.chain)
    const origins = example.origins.flatMap((fields) => Object.values(fields))
    references += origins.filter((origin) => origin.from === 'result' && origin.said).length
  }
  assert.ok(references > 60, `${references} references`)
})

test('contain no key that only a result shows', async () => {
  for (const { task, exchanges, origins } of await calling()) {
    for (const [i, call] of task.groundTruth.entries()) {
      for (const [field, value] of Object.entries(call.arguments)) {
        if (origins[i]![field]!.from !== 'result' || typeof value !== 'string' || !/\d/.test(value)) continue
        const environment = CATALOGUE.get(task.toolset.find(({ tool }) => tool === call.name)!.environment)!
        if (Object.values(environment.entities).some(({ sayable }) => sayable) || /^\d{4}-/.test(value)) continue
        for (const { user } of exchanges) assert.not(user.split(/[\s"'.,?!]+/).includes(value), `${value} in: ${user}`)
      }
    }
  }
})

test('ask in words without placeholders, tags or leftovers', async () => {
  for (const { exchanges } of await sampleExamples()) {
    for (const { user, assistant } of exchanges) {
      for (const text of [user, assistant]) {
        assert.ok(text.trim() === text && text.length > 0)
        for (const leak of ['{', '}', 'undefined', '[object', '  ', '<|', 'tool_call'])
          assert.not(text.includes(leak), `"${leak}" in: ${text}`)
      }
    }
  }
})

test('offer the tools they need, and no tool twice', async () => {
  for (const { task } of await sampleExamples()) {
    const names = task.toolset.map(({ tool }) => tool)
    assert.is(new Set(names).size, names.length)
    for (const { name } of task.groundTruth) assert.ok(names.includes(name))
    const own = new Set(task.chain.split(/[:>]/))
    if (task.kind === 'abstention')
      assert.not(
        names.some((name) => own.has(name)),
        task.chain,
      )
  }
})

const DECLINES = /tool|way to do|cannot|not able|beyond|nothing/
/** Calls that can be made before the user brings anything. */
const offeredCalls = ({ groundTruth, toolset }: Example['task']) =>
  groundTruth.filter(({ name }) => offeredAt(toolset, 0).some(({ tool }) => tool === name))

test('hide every tool of the chain, or the last one, when the right answer is that a tool is missing', async () => {
  const hiding = (await sampleExamples()).filter(
    ({ task, information }) => task.kind === 'clarification' && information !== 'missing',
  )
  assert.ok(hiding.length > 5)
  const brought = hiding.filter(({ task }) => bringsTools(task))
  assert.ok(brought.length > 0)
  for (const example of brought) {
    const [last, ...others] = [...example.task.groundTruth].reverse()
    assert.is(last!.turn, 1)
    assert.ok(others.every(({ turn }) => turn === 0))
    assert.equal(
      example.task.toolset.filter(({ from }) => from !== undefined).map(({ tool }) => tool),
      [last!.name],
    )
    assert.match(example.exchanges[0]!.assistant, DECLINES)
    const record = recordOf(example, CATALOGUE)
    assert.not.ok(record.tools.some((tool) => tool.function.name === last!.name))
    assert.match(JSON.stringify(record.messages.filter(({ role }) => role === 'user').at(-1)), last!.name)
    assert.equal(exampleOfRecord(parseRecord(lineOf(record), 'here'), 'here'), example)
  }
  const partly = hiding.filter(({ task }) => task.groundTruth.length > 0 && !bringsTools(task))
  assert.ok(partly.length > 0 && partly.length < hiding.length, `${partly.length} of ${hiding.length} are partly done`)
  for (const { task, exchanges } of hiding) {
    const own = task.chain.split('>').map((name) => name.split(':').at(-1)!)
    const shown = own.filter((name) => offeredAt(task.toolset, 0).some(({ tool }) => tool === name))
    assert.equal(
      shown,
      offeredCalls(task).map(({ name }) => name),
    )
    assert.is.not(shown.length, own.length)
    assert.match(exchanges[bringsTools(task) ? 0 : exchanges.length - 1]!.assistant, DECLINES)
  }
})

test('continue with another request in the same environment if the user does not know the missing value', async () => {
  const unknown = (await sampleExamples()).filter(
    ({ task, information }) => task.kind === 'clarification' && information === 'missing',
  )
  assert.ok(unknown.some(({ task }) => task.groundTruth.length > 0))
  for (const { task, exchanges } of unknown) {
    assert.equal(
      task.questions!.map(({ turn }) => turn),
      [0],
    )
    assert.equal(exchanges[0]!.calls, [])
    for (const [i, { calls }] of exchanges.slice(1).entries())
      assert.ok(calls.length > 0, `${task.chain}, turn ${i + 1}`)
    assert.is(task.groundTruth.length === 0, exchanges.length === 1)
  }
})

test('require a question for the missing value, and the assistant asks it', async () => {
  for (const { task, information, exchanges } of await sampleExamples()) {
    const isHiding = task.kind !== 'multi-turn' && information !== 'missing'
    const asking = task.groundTruth.length === 0 ? task.turns.length : 1
    assert.is(task.questions?.length ?? 0, information === 'complete' || isHiding ? 0 : asking, task.chain)
    for (const { turn, words } of task.questions ?? []) {
      assert.ok(asksFor(exchanges[turn]!.assistant, words), `${exchanges[turn]!.assistant}: ${words.join(', ')}`)
      assert.ok(task.groundTruth.every((call) => call.turn !== turn || information === 'missing'))
      for (const idle of ['Done.', 'Sure. Is there anything else?', 'What do you want?', CLOSING])
        assert.not.ok(asksFor(idle, words), `${idle} asks for ${words.join(', ')}`)
    }
  }
})

test('have as many words where no call is right as where some are', async () => {
  const check = createBaselineCheck(CATALOGUE)
  for (const example of await sampleExamples()) check.add(example)
  const { first, all } = check.finish().lengths!
  // With some thirty tasks without calls, chance alone makes a tenth of difference now and then.
  for (const area of [first, all]) assert.ok(Math.abs(area - 0.5) <= 0.15, `first turn ${first}, all turns ${all}`)
})

test('fail by realistic errors: future days and plausible numbers', async () => {
  let failed = 0
  for (const { exchanges, task } of await sampleExamples()) {
    for (const call of exchanges.flatMap(({ calls }) => calls).filter(({ ok }) => !ok)) {
      failed++
      const right = task.groundTruth.filter(({ name }) => name === call.name)
      for (const [field, value] of Object.entries(call.arguments)) {
        if (right.some(({ arguments: args }) => args[field] === value)) continue
        if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value)) assert.ok(value >= TODAY, value)
        if (typeof value !== 'number') continue
        const times = right.map(({ arguments: args }) => value / Number(args[field]))
        assert.ok(
          times.some((factor) => factor <= 5),
          `${call.name} ${field} ${value}`,
        )
      }
    }
  }
  assert.ok(failed > 0)
})

test('leave enum values out of the schemas of some, and only there', async () => {
  const listed = (example: Example): boolean => JSON.stringify(toolsetOf(example.task, CATALOGUE)).includes('"enum":[')
  const examples = await sampleExamples()
  const stripped = examples.filter(({ task }) => task.stripEnums)
  assert.ok(stripped.length > 12 && stripped.length < examples.length / 2)
  for (const example of stripped) assert.not(listed(example))
  assert.ok(examples.some((example) => !example.task.stripEnums && listed(example)))
})

test('order their calls by the dependency graph and by the values they take over', async () => {
  for (const { task, origins } of await calling()) {
    for (const [i, call] of task.groundTruth.entries()) {
      const serverOf = (name: string) => task.toolset.find(({ tool }) => tool === name)!.environment
      const graph = dependencyGraph(CATALOGUE.get(serverOf(call.name))!)
      const wanted = new Set<number>()
      for (const [j, before] of task.groundTruth.slice(0, i).entries()) {
        if (serverOf(before.name) === serverOf(call.name) && graph.prerequisites(call.name).has(before.name))
          wanted.add(j)
      }
      for (const origin of Object.values(origins[i]!)) if (origin.from === 'result') wanted.add(origin.call)
      assert.equal(
        call.after,
        [...wanted].sort((a, b) => a - b),
        task.chain,
      )
    }
  }
})

test('recover from failures that really happen, and keep them out of the ground truth', async () => {
  for (const { recovery, exchanges, task } of await calling()) {
    const failed = exchanges.flatMap(({ calls }) => calls.filter(({ ok }) => !ok))
    assert.is(failed.length, recovery === null ? 0 : 1, task.chain)
    for (const { truth, response } of failed) {
      assert.is(truth, null)
      assert.is(typeof (JSON.parse(response) as { error: string }).error, 'string')
    }
  }
})

test('leave it to the user to go on after a failure, also where another tool has to come first', async () => {
  const recovered = (await calling()).filter(({ recovery }) => recovery !== null)
  assert.ok(recovered.some(({ recovery }) => recovery === 'other-tool'))
  for (const { recovery, exchanges, task } of recovered) {
    const at = exchanges.findIndex(({ calls }) => calls.some(({ ok }) => !ok))
    assert.is(exchanges[at]!.calls.at(-1)!.ok, false, task.chain)
    if (recovery !== 'other-tool') continue
    const [setUp, again] = exchanges[at + 1]!.calls
    assert.is(exchanges[at]!.calls.at(-1)!.name, again!.name)
    assert.is(CATALOGUE.get(setUp!.environment)!.toolsByName.get(setUp!.name)!.annotations.readOnly, false)
  }
})

test('a sheet for reading draws each kind and length in turn, the same for the same seed', async () => {
  const examples = await sampleExamples()
  const stream = async function* () {
    yield* examples
  }
  const sheet = await annotationForm(stream(), 12, 1)
  assert.is(sheet.match(/^verdict/gm)!.length, 12)
  for (const kind of ['multi-turn', 'clarification', 'abstention'])
    assert.match(sheet, new RegExp(`^${kind} example`, 'm'))
  assert.is(sheet, await annotationForm(stream(), 12, 1))
  assert.is.not(sheet, await annotationForm(stream(), 12, 2))
})

test.run()
