import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  allChoices,
  isOptional,
  type SpokenEnvironment,
  seededRandom,
  speechOf,
  type ToolDefinition,
  withChoices,
} from '../../../servers/kernel/index.js'
import { naturalSpeech } from '../../../tasks/synthesis/wording/natural-speech.js'
import { clausesFor, goalsFor } from '../../../tasks/synthesis/wording/tool-phrases.js'
import { momentOf, type Sample, samples, spelledOut } from '../../support/speech-samples.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('ways to ask')
const TOOLS = [...CATALOGUE.values()].flatMap((environment) => environment.tools.map((tool) => ({ environment, tool })))
/** Ways to choose words of which somebody has read but some. */
const MOST_FORMS = 60

const clausesOf = (node: { environment: SpokenEnvironment; tool: ToolDefinition }): readonly string[] =>
  speechOf(node).further.ask

test('have each choice once, in every way', () => {
  assert.equal(allChoices('(find|see) {book}[ (in|at) {shelf}]'), [
    'find {book}[ in {shelf}]',
    'find {book}[ at {shelf}]',
    'see {book}[ in {shelf}]',
    'see {book}[ at {shelf}]',
  ])
  assert.equal(allChoices('(|really )find {book} (in the hall)'), [
    'find {book} (in the hall)',
    'really find {book} (in the hall)',
  ])
  assert.is(
    withChoices('(a|b) and (c|d)', (words) => words.at(-1)!),
    'b and d',
  )
})

test('are several for every tool of the project, more than its own clauses', () => {
  for (const { environment, tool } of TOOLS) {
    const called = `${environment.name}:${tool.name}`
    assert.ok(clausesOf({ environment, tool }).length >= 5, called)
    assert.ok(speechOf({ environment, tool }).further.goals.length >= 3, called)
    for (const clause of clausesOf({ environment, tool })) assert.ok(allChoices(clause).length <= MOST_FORMS, clause)
  }
})

test('are different in every form, and none is a clause of the tool itself', () => {
  for (const { environment, tool } of TOOLS) {
    const forms = [...speechOf({ environment, tool }).ask, ...clausesOf({ environment, tool }).flatMap(allChoices)]
    const twice = forms.find((form, i) => forms.indexOf(form) !== i)
    assert.is(twice, undefined, `${environment.name}:${tool.name}`)
  }
})

test('say all optional arguments at once in some clause that training hears, and in one that it does not', () => {
  for (const { environment, tool } of TOOLS) {
    const optional = Object.entries(tool.input.shape).flatMap(([name, schema]) =>
      isOptional(schema) && name !== 'page' ? [name] : [],
    )
    const says = (clause: string): boolean => optional.every((field) => clause.includes(`{${field}}`))
    for (const heldOut of [false, true]) {
      const ways = clausesFor({ environment, tool }, { ...momentOf(tool.name), heldOut })
      assert.ok(ways.some(says), `${environment.name}:${tool.name}`)
    }
  }
})

test('can be said with what samplers draw, whatever is chosen in them', () => {
  for (const sample of samples(1)) {
    const given = Object.keys(sample.args)
    for (const [i, clause] of clausesOf(sample).entries()) {
      const fits = given.every((field) => clause.includes(`{${field}}`))
      if (!fits) continue
      const template = withChoices(clause, (words) => seededRandom(i).pick(words))
      const ask = spelledOut({ ...sample, environment: askedBy(sample, template) })
      assert.ok(naturalSpeech.request([ask], momentOf(`${clause} ${i}`)), template)
    }
  }
})

test('that held-out tasks are in are heard in no other', () => {
  for (const node of TOOLS) {
    const understood = (heldOut: boolean): Set<string> => {
      const draws = Array.from({ length: 3 }, (_, i) => ({ ...momentOf(`${node.tool.name} ${i}`), heldOut }))
      return new Set(draws.flatMap((moment) => [...clausesFor(node, moment), ...goalsFor(node, moment)]))
    }
    const training = understood(false)
    const first = clausesFor(node, { ...momentOf(node.tool.name), heldOut: true })[0]!
    assert.not.ok(training.has(first), `${node.environment.name}: "${first}"`)
  }
})

/** The environment of a sample with one clause for its tool. */
const askedBy = ({ environment, tool }: Sample, clause: string): SpokenEnvironment => {
  const own = { ...speechOf({ environment, tool }), ask: [clause], further: { ask: [], goals: [] } }
  return { ...environment, speech: new Map([...environment.speech, [tool.name, own]]) }
}

test.run()
