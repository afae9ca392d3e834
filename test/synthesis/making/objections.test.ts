import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { asksFor } from '../../../rollout/episode/index.js'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import {
  createSeedStateCache,
  type Environment,
  ruleFor,
  type Session,
  seededRandom,
} from '../../../servers/kernel/index.js'
import { nodeName } from '../../../servers/kernel/tool-graph.js'
import { type Example, PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import { contextFor, OBJECTIONS, objectionText } from '../../../tasks/synthesis/index.js'
import type { Candidate } from '../../../tasks/synthesis/making/conversation-checks.js'
import { uniqueNodes } from '../../../tasks/synthesis/making/missing-value.js'
import {
  type ObjectionName,
  OF_CALLS,
  OF_CONVERSATIONS,
  OF_EXAMPLES,
} from '../../../tasks/synthesis/making/objections.js'
import { isSolvable } from '../../../tasks/synthesis/making/solvable.js'
import type { Chain } from '../../../tasks/synthesis/making/split.js'
import { tellReferences } from '../../../tasks/synthesis/making/state-references.js'
import type { Open, StatedStep, Step } from '../../../tasks/synthesis/making/step.js'
import { takeSteps } from '../../../tasks/synthesis/making/take-steps.js'
import { TODAY } from '../../../tasks/synthesis/making/today.js'
import { isTooSmall } from '../../../tasks/synthesis/making/toolset.js'
import { walk } from '../../../tasks/synthesis/making/walk.js'
import { wire } from '../../../tasks/synthesis/making/wiring.js'
import { createDuplicateIndex } from '../../../tasks/synthesis/production/duplicates.js'
import { wordsFor } from '../../../tasks/synthesis/wording/question-words.js'
import { leaks } from '../../../tasks/synthesis/wording/user-request.js'
import { denotes } from '../../../tasks/synthesis/wording/value-meaning.js'
import { checkout } from '../../support/checkout.js'
import { sampleExamples } from '../../support/sample-examples.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'
import { settingFor } from '../../support/task-plans.js'

const test = suite('objections')
const seedStates = createSeedStateCache(64)
const context = contextFor([...CATALOGUE.values()], PAPER_PROFILE, 5, seedStates)
const open = (environment: Environment): Session => seedStates.open(environment, 4)
const chainOf = (...names: string[]): Chain =>
  names.map((name) => context.graph.nodes.find((node) => nodeName(node) === name) as Chain[number])
const rowsOf = (environment: string, table: string) => open(CATALOGUE.get(environment)!).db[table]!.list()

/** A call that is not executed. */
const step = (name: string, args: JsonObject, output: JsonObject, bindings: Step['bindings'] = []): Step => {
  const [node] = chainOf(name)
  return { ...node!, args, output, bindings }
}

/** Calls that are executed in one environment, each with what the results before give. */
function played(
  ...calls: readonly (readonly [name: string, args: (results: readonly JsonObject[]) => JsonObject])[]
): Step[] {
  const outputs: JsonObject[] = []
  const session = open(chainOf(calls[0]![0])[0]!.environment)
  return calls.map(([name, argsOf]) => {
    const args = argsOf(outputs)
    const result = session.call(name.split(':')[1]!, args)
    assert.ok(result.ok, `${name} ${JSON.stringify(args)} ${JSON.stringify(result)}`)
    outputs.push(result.output as JsonObject)
    return step(name, args, result.output as JsonObject)
  })
}

const ofCalls = (name: (typeof OF_CALLS)[number]['name'], steps: readonly Step[]): boolean =>
  OF_CALLS.find((row) => row.name === name)!.objects({
    chain: chainOf(...steps.map(nodeName)),
    steps,
    open,
    graph: context.graph,
  })

/** The conversation of an example, as the objections look at it. */
function candidateOf(example: Example): Candidate {
  const calls = example.exchanges.flatMap((exchange) => exchange.calls).filter(({ truth }) => truth !== null)
  const steps = calls.map(({ environment, name, arguments: args, response }, i): StatedStep => {
    const [node] = chainOf(`${environment}:${name}`)
    const bindings = Object.entries(example.origins[i] ?? {}).flatMap(([field, origin]) =>
      origin.from === 'result'
        ? [
            {
              field,
              value: String(args[field]),
              source: origin.call,
              entity: undefined,
              way: { how: 'value', noun: '', value: '' } as const,
            },
          ]
        : [],
    )
    return { ...node!, args, output: JSON.parse(response) as JsonObject, bindings }
  })
  const script = { steps, turns: [], information: example.information, recovery: null, silent: new Set<number>() }
  const opened: Open = (environment) =>
    seedStates.open(environment, example.task.environments.find((one) => one.environment === environment.name)!.seed)
  return { example, steps, script, open: opened, catalogue: CATALOGUE, denotes, today: TODAY }
}

const talk = (await sampleExamples()).filter(
  ({ task, recovery, origins }) =>
    task.kind === 'multi-turn' &&
    recovery === null &&
    origins.some((fields) => Object.values(fields).some((origin) => origin.from === 'result' && origin.said)),
)
const sample = talk[0]!
const ofTalk = (
  name: (typeof OF_CONVERSATIONS)[number]['name'],
  change: (candidate: Candidate) => Candidate,
): boolean => OF_CONVERSATIONS.find((row) => row.name === name)!.objects(change(candidateOf(sample)))
const as = (candidate: Candidate): Candidate => candidate
const ofExample = (name: (typeof OF_EXAMPLES)[number]['name'], example: Example): boolean =>
  OF_EXAMPLES.find((row) => row.name === name)!.objects({ example, context })

const freezing = chainOf('banking:list_accounts', 'banking:list_cards', 'banking:freeze_card')
const isWalked = (opened: Open): boolean =>
  walk(freezing, { wiring: wire(freezing)!, open: opened, profile: PAPER_PROFILE, random: seededRandom(2) }) !==
  undefined
const allFrozen: Open = (environment) => {
  const session = open(environment)
  for (const { card, status } of session.db.cards!.list())
    if (status === 'active') session.call('freeze_card', { card })
  return session
}

const paid = (): Step[] => [
  step(
    'banking:find_payee',
    { name: 'Lake' },
    { found: 1, payees: [{ name: 'Lake Music Club', payee: 'lake', bank: 'G', status: 'active' }] },
  ),
  step('banking:send_payment', { account: 'a', payee: 'lake', amount: 20 }, {}, [
    {
      field: 'payee',
      value: 'lake',
      source: 0,
      entity: 'payee',
      ways: [{ how: 'label', noun: 'payee', label: 'Lake Music Club' }],
    },
  ]),
]
const banking = CATALOGUE.get('banking')!
const ruled = (amount: number): boolean =>
  ruleFor(banking, 'send_payment', { amount }, { db: open(banking).db, today: TODAY }) !== undefined
const offered = (count: number) =>
  banking.tools.slice(0, count).map(({ name }) => ({ environment: 'banking', tool: name }))
const account = String(rowsOf('banking', 'accounts')[0]!.account)
const solves = (tool: string): boolean =>
  isSolvable(played(['banking:get_balance', () => ({ account })]), 0, chainOf(`banking:${tool}`), open, seededRandom(3))
const light = rowsOf('iot_devices', 'devices').find(({ kind, level }) => kind === 'light' && Number(level) >= 0)
const project = String(rowsOf('issue_tracker', 'issues')[0]!.project)
const issue = String(rowsOf('issue_tracker', 'issues')[0]!.issue)
const traveller = String(rowsOf('travel_booking', 'itineraries')[0]!.traveller)
const assigned = (of: string): Step[] => [
  step('issue_tracker:list_project_members', { project: of }, {}),
  step('issue_tracker:assign_issue', { issue, member: 'mona' }, {}, [
    { field: 'member', value: 'mona', source: 0, entity: 'member', ways: [] },
  ]),
]
const limited = (card: string): Step[] => [
  step('banking:freeze_card', { card: 'a' }, { name: 'A', card: 'a', status: 'frozen' }),
  step('banking:set_card_limit', { card, limit: 100 }, { name: 'A', card, limit: 100 }),
]
const kept = (other: Example): boolean => {
  const index = createDuplicateIndex()
  return index.keep(sample) && index.keep(other)
}
const listing = { title: 'Red Chair', format: 'fixed_price', price: 40 }
const inAnswer = (change: (text: string) => string): Example => ({
  ...sample,
  exchanges: sample.exchanges.map((exchange) => ({ ...exchange, assistant: change(exchange.assistant) })),
})

/** Per objection, whether it drops the candidate that it is to drop, and whether it drops the near one that it is to keep. */
const CASES: Readonly<Record<ObjectionName, readonly [drops: () => boolean, keeps: () => boolean]>> = {
  no_chain: [
    () =>
      takeSteps({ around: freezing[2]!, length: 3, fits: () => false }, settingFor(context, freezing[2]!)) ===
      'no_chain',
    () => takeSteps({ around: freezing[2]!, length: 3 }, settingFor(context, freezing[2]!)) === 'no_chain',
  ],
  no_walk: [() => !isWalked(allFrozen), () => !isWalked(open)],
  no_rule: [() => !ruled(20), () => !ruled(450)],
  no_script: [
    () => tellReferences(paid(), [[0, 1]], { stated: true, inTime: true }, seededRandom(1)) === null,
    () => tellReferences(paid(), [[0], [1]], { stated: true, inTime: true }, seededRandom(1)) === null,
  ],
  no_words: [() => leaks('order 3 packs', 3), () => leaks('order 3 packs', 40)],
  no_question: [
    () => !asksFor('What do you want?', wordsFor(banking, banking.toolsByName.get('send_payment')!, 'amount')),
    () => !asksFor('How much should it be?', wordsFor(banking, banking.toolsByName.get('send_payment')!, 'amount')),
  ],
  few_tools: [
    () => isTooSmall(offered(2), [banking], PAPER_PROFILE),
    () => isTooSmall(offered(6), [banking], PAPER_PROFILE),
  ],
  one_name: [
    () => {
      const [node] = freezing
      return uniqueNodes([node!, { ...node!, environment: CATALOGUE.get('crm')! }]) === null
    },
    () => uniqueNodes(freezing) === null,
  ],
  solvable: [() => solves('list_accounts'), () => solves('list_standing_orders')],
  duplicate: [
    () => !kept({ ...sample, task: { ...sample.task, id: 'other' } }),
    () => !kept(talk.find(({ task }) => task.chain !== sample.task.chain)!),
  ],
  errand: [() => ofCalls('errand', limited('b')), () => ofCalls('errand', limited('a'))],
  places_apart: [
    () => ofCalls('places_apart', assigned('ELSEWHERE')),
    () => ofCalls('places_apart', assigned(project)),
  ],
  idle: [
    () =>
      ofCalls('idle', [
        step('iot_devices:set_light', { light: String(light!.device), brightness: Number(light!.level) }, {}),
      ]),
    () =>
      ofCalls('idle', [
        step(
          'banking:freeze_card',
          { card: String(rowsOf('banking', 'cards').find(({ status }) => status === 'active')!.card) },
          {},
        ),
      ]),
  ],
  look_up: [
    () =>
      ofCalls(
        'look_up',
        played(
          ['travel_booking:update_passport', () => ({ traveller, expires: '2035-04-25' })],
          ['travel_booking:list_itineraries', () => ({ traveller })],
        ),
      ),
    () =>
      ofCalls(
        'look_up',
        played(
          ['travel_booking:list_itineraries', () => ({ traveller })],
          ['travel_booking:update_passport', () => ({ traveller, expires: '2035-04-25' })],
        ),
      ),
  ],
  undone: [
    () =>
      ofCalls(
        'undone',
        played(
          ['marketplace:create_listing', () => listing],
          ['marketplace:withdraw_listing', ([made]) => ({ own_listing: made!.listing ?? made!.own_listing! })],
        ),
      ),
    () =>
      ofCalls(
        'undone',
        played(
          ['marketplace:create_listing', () => listing],
          ['marketplace:search_listings', () => ({ text: 'Chair' })],
        ),
      ),
  ],
  reference: [
    () =>
      ofTalk('reference', (candidate) => ({
        ...candidate,
        example: {
          ...sample,
          exchanges: sample.exchanges.map((exchange) => ({
            ...exchange,
            calls: exchange.calls.map((call) => ({ ...call, response: '{}' })),
          })),
        },
      })),
    () => ofTalk('reference', as),
  ],
  provenance: [
    () =>
      ofTalk('provenance', (candidate) => ({
        ...candidate,
        example: { ...sample, origins: sample.origins.map(() => ({})) },
      })),
    () => ofTalk('provenance', as),
  ],
  replay: [
    () =>
      ofTalk('replay', (candidate) => ({
        ...candidate,
        steps: candidate.steps.map((one) => ({ ...one, output: { ...one.output, invented: 1 as Json } })),
      })),
    () => ofTalk('replay', as),
  ],
  reward: [
    () =>
      ofTalk('reward', (candidate) => ({
        ...candidate,
        example: { ...sample, task: { ...sample.task, groundTruth: [] } },
      })),
    () => ofTalk('reward', as),
  ],
  necessity: [
    () => {
      const look = ['banking:get_balance', () => ({ account })] as const
      const steps = played(look, look).map((one): StatedStep => ({ ...one, bindings: [] }))
      return ofTalk('necessity', (candidate) => ({
        ...candidate,
        open,
        steps,
        script: { ...candidate.script, silent: new Set([0, 1]) },
      }))
    },
    () => ofTalk('necessity', as),
  ],
  words: [
    () =>
      ofExample(
        'words',
        inAnswer((text) => `${text} It costs 987654.`),
      ),
    () => ofExample('words', sample),
  ],
  domain_rules: [
    () =>
      ofExample('domain_rules', {
        ...sample,
        domainRules: { role: 'abiding' },
        exchanges: sample.exchanges.map((one) => ({ ...one, calls: [] })),
      }),
    () => ofExample('domain_rules', sample),
  ],
}

for (const { name, drops, keeps } of OBJECTIONS) {
  test(`${name} drops: ${drops}`, () => assert.ok(CASES[name][0]()))
  test(`${name} keeps: ${keeps}`, () => assert.not.ok(CASES[name][1]()))
}

test('have one name each, and docs/explain/synthesis.md has all of them', () => {
  assert.is(new Set(OBJECTIONS.map(({ name }) => name)).size, OBJECTIONS.length)
  const text = readFileSync(join(checkout, 'docs', 'explain', 'synthesis.md'), 'utf8')
  for (const { name, protects } of OBJECTIONS)
    assert.ok(text.includes(`| \`${name}\` | ${protects} |`), `${name}: run npm run docs`)
})

test('are described with what they protect and an example of each kind', () => {
  const text = objectionText(OBJECTIONS.find(({ name }) => name === 'errand')!)
  assert.match(text, /^errand: One reason fits all calls/)
  assert.match(text, /drops: freeze one card/)
})

test.run()
