import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { probe } from '../../../lab/probe.js'
import { asksFor, nameTask } from '../../../rollout/episode/index.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { createSeedStateCache, questionOf } from '../../../servers/kernel/index.js'
import {
  domainRulesProblem,
  domainRulesText,
  type Example,
  type ExampleMismatch,
  exampleOfRecord,
  lineOf,
  PAPER_PROFILE,
  parseRecord,
  recordOf,
  verifyExample,
} from '../../../tasks/dataset/index.js'
import { contextFor } from '../../../tasks/synthesis/index.js'
import { makeExample } from '../../../tasks/synthesis/making/make-example.js'
import { plansFor } from '../../../tasks/synthesis/production/assignments.js'
import { createTargets } from '../../../tasks/synthesis/production/targets.js'
import { confirmingWords } from '../../../tasks/synthesis/wording/question-words.js'
import { patience } from '../../support/patience.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('tasks with domain rules')
const seedStates = createSeedStateCache(64)
const environments = ['banking', 'payments', 'marketplace', 'video_meeting'].map((name) => CATALOGUE.get(name)!)
const contextWith = (policies: number) => contextFor(environments, PAPER_PROFILE, 11, seedStates, [], policies)

/** Multi-turn examples, and a few of the other kinds. */
function make(share: number, count: number): Example[] {
  const context = contextWith(share)
  const targets = createTargets(context.graph, context.profile, new Set(), 11, seedStates)
  const composition = { 'multi-turn': count - 2 * (count >> 4), clarification: count >> 4, abstention: count >> 4 }
  return plansFor(composition, {}, context, targets.able).flatMap((plan, index) => {
    for (let round = 0; round < 6; round++) {
      const assignment = targets.assign(plan, index, round)
      const { example, rejected } = makeExample(assignment, context, new Set(targets.spent()))
      targets.note(assignment, example, rejected)
      if (example) return [example]
    }
    return []
  })
}

let known: Example[] | undefined
const examples = (): Example[] => {
  known ??= make(1, 48)
  return known
}
const inRole = (role: 'declined' | 'confirmed' | 'abiding'): Example[] =>
  examples().filter(({ domainRules }) => domainRules?.role === role)

test('are declined, confirmed or abiding, and contain the domain rules of the offered environments', () => {
  for (const role of ['declined', 'confirmed', 'abiding'] as const) assert.ok(inRole(role).length >= 4, role)
  for (const { task } of examples()) assert.ok(task.system!.endsWith(domainRulesText(task, CATALOGUE)!), task.chain)
})

test('play again as they were written, and come out of their records', async () => {
  for (const example of examples()) {
    await verifyExample(example, CATALOGUE, seedStates, new AbortController().signal)
    const line = lineOf(recordOf(example, CATALOGUE))
    assert.equal(exampleOfRecord(parseRecord(line, 'here'), 'here'), example)
  }
})

test('have no call in their ground truth that a rule forbids or that was not agreed to', () => {
  for (const example of examples()) {
    const { domainRules, task } = example
    if (domainRules?.role === undefined || domainRules.role === 'abiding') continue
    const same = task.groundTruth.filter(
      ({ name, arguments: args }) =>
        name === domainRules.call.name && JSON.stringify(args) === JSON.stringify(domainRules.call.arguments),
    )
    assert.is(same.length, domainRules.outcome === 'agreed' ? 1 : 0, task.chain)
    if (domainRules.outcome === 'agreed') assert.is(same[0]!.turn, domainRules.turn + 1)
    const due = task.questions?.some(({ turn }) => turn === domainRules.turn) ?? false
    assert.is(due, domainRules.role === 'confirmed', task.chain)
  }
})

test('are rejected if the assistant makes a forbidden call, or the domain rules differ', async () => {
  const [example] = inRole('declined')
  const { domainRules, task, exchanges } = example!
  if (domainRules?.role !== 'declined') throw new Error('made otherwise')
  const done = exchanges.map((exchange, turn) =>
    turn === domainRules.turn
      ? { ...exchange, calls: [...exchange.calls, { ...domainRules.call, response: '{}', ok: true, truth: null }] }
      : exchange,
  )
  assert.match(domainRulesProblem({ ...example!, exchanges: done }, CATALOGUE, seedStates)!, /forbids the call/)
  const { id: _, ...body } = task
  const milder = nameTask({ ...body, system: task.system!.replace(/\n1\. .*/, '') })
  try {
    await verifyExample({ ...example!, task: milder }, CATALOGUE, seedStates, new AbortController().signal)
    assert.unreachable()
  } catch (error) {
    assert.is((error as ExampleMismatch).code, 'other_domain_rules')
  }
})

test('give the reference solution the full outcome reward, and less to a policy that breaks a domain rule', async () => {
  const runtime = createTaskRuntime(CATALOGUE)
  const { results } = await probe(examples(), runtime, patience())
  const earned = (name: string) => results.find((result) => result.name === name)!
  assert.is(results[0]!.full.outcome, 1)
  for (const name of ['makes a call that a domain rule forbids', 'does not ask before a call that must be confirmed']) {
    const { tasks, full, earned: share } = earned(name)
    assert.ok(tasks >= 4, name)
    assert.is(full.outcome, 0, name)
    assert.ok(share.outcome! < 0.7, `${name}: ${share.outcome}`)
  }
})

test('are made of the very same draws where there are none', () => {
  assert.equal(make(0, 4), make(0, 4))
  assert.ok(
    make(0, 6).every(({ domainRules, task }) => domainRules === undefined && !task.system!.includes('# Policy')),
  )
})

test('ask for an agreement in words that the user hears as such, whatever the rule', () => {
  for (const { name, domainRules } of CATALOGUE.values()) {
    for (const rule of domainRules?.rules ?? []) {
      if (rule.demand === 'confirm')
        assert.ok(asksFor(questionOf(rule, {}), confirmingWords()), `${name}: ${rule.name}`)
    }
  }
})

test('have three to six rules for every environment of the catalogue', () => {
  for (const { name, domainRules } of CATALOGUE.values()) {
    const rules = domainRules?.rules.length ?? 0
    assert.ok(rules >= 3 && rules <= 6, `${name} has ${rules}`)
  }
})

test.run()
