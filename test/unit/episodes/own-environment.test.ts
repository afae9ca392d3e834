import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toolsetSchemaSha256 } from '../../../rollout/episode/index.js'
import { PAPER } from '../../../rollout/reward/index.js'
import { checkEnvironment } from '../../../servers/authoring/check-environment.js'
import { type ContractOptions, environmentContract } from '../../../servers/authoring/contract/environment-contract.js'
import { loadEnvironmentFolder } from '../../../servers/authoring/load-environment.js'
import { writeTemplate } from '../../../servers/authoring/new-environment.js'
import { admitEnvironments, isEnvironmentFolder, loadEnvironments } from '../../../servers/catalogue.js'
import { createTaskRuntime, scoreRollout } from '../../../servers/episodes/index.js'
import { createSeedStateCache, environmentSha256, offerEnvironments, serveHttp } from '../../../servers/kernel/index.js'
import { readSpeechFile, speechSha256, withSpeech } from '../../../servers/load-speech.js'
import { DEMO_PROFILE, verifyExample } from '../../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../../tasks/synthesis/index.js'
import makeBatch from '../../../tasks/synthesis/production/make-batch.js'

const test = suite('an environment of your own')

const parent = mkdtempSync(join(tmpdir(), 'prove-own-'))
const folder = join(parent, 'library')
test.before(async () => {
  await writeTemplate('library', parent)
})
test.after(() => rmSync(parent, { recursive: true }))

const { signal } = new AbortController()
let copies = 0

/** The world's folder with something replaced in one of its files. */
function changed(before: string | RegExp, after: string, file = 'index.js'): string {
  const copy = join(parent, `copy-${copies++}`)
  cpSync(folder, copy, { recursive: true })
  const text = readFileSync(join(copy, file), 'utf8')
  const replaced = text.replace(before, after)
  assert.ok(replaced !== text, String(before))
  writeFileSync(join(copy, file), replaced)
  return copy
}

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: Error) => error.message,
  )

test('the environment that "new" writes passes every check', async () => {
  const said: string[] = []
  assert.is(await checkEnvironment(folder, (line) => said.push(line)), 0, said.join('\n'))
  assert.match(said.at(-1)!, /^all 19 checks passed$/)
})

test('an environment from a folder is served over MCP, gives tasks, and scores rollouts', async () => {
  const [library] = await admitEnvironments([folder, folder])
  const seedStates = createSeedStateCache()
  const served = await serveHttp(
    offerEnvironments([library!]),
    (environment, seed = 1) => seedStates.open(environment, seed),
    { port: 0 },
  )
  const client = new Client({ name: 'test', version: '1.0.0' })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)))
    const { structuredContent } = await client.callTool({ name: 'list_library_items', arguments: { shelf: 'red' } })
    assert.is((structuredContent as { items: unknown[] }).items.length, 4)
  } finally {
    await client.close()
    await served.close()
  }
  const environments = await loadEnvironments()
  const runtime = createTaskRuntime(environments)
  const named = (id: string): never => {
    throw new Error(id)
  }
  const context = contextFor([withSpeech(library!)], DEMO_PROFILE, 1, seedStates)
  for (const example of streamExamples(context, 'train', 3)) {
    await verifyExample(example, environments, seedStates, signal)
    const actions = example.task.groundTruth.map(({ name, arguments: args }) => ({
      text: '',
      calls: [{ name, arguments: args }],
    }))
    const scored = await scoreRollout({ task: example.task, actions }, { runtime, reward: PAPER, named })
    assert.is(scored.solved, true)
    assert.is(scored.total, 1.3)
  }
})

test('worker threads load the environment by its folder, and stop if its code has changed since the data set was begun', async () => {
  const [library] = await admitEnvironments([folder])
  const recipe = { environments: ['library'], heldOutEnvironments: [], profile: 'demo', seed: 1 }
  const outside = (code: string, speech: string) => ({
    ...recipe,
    outside: { folders: [folder], codeSha256: [code], speechSha256: [speech] },
  })
  const speech = speechSha256(library!)
  const assignment = { index: 0, kind: 'multi-turn', split: 'train', round: 0, target: 'library:end_library_loan' }
  const batch = (code: string, words = speech) =>
    makeBatch({ recipe: outside(code, words), assignments: [assignment] } as unknown as Parameters<typeof makeBatch>[0])
  const [result] = await batch(library!.codeSha256!)
  assert.is(result!.index, 0)
  const changes = /^other_plan: the files of the environment library have changed/
  assert.match(await messageOf(batch('0'.repeat(64))), changes)
  assert.match(await messageOf(batch(library!.codeSha256!, '0'.repeat(64))), changes)
})

test('the environment’s imported code is part of every hash of environments', async () => {
  const [original, same, reworded, other] = await Promise.all([
    loadEnvironmentFolder(folder),
    loadEnvironmentFolder(changed('unknown_item: () =>', 'unknown_item: (_) =>', 'provoke.js')),
    loadEnvironmentFolder(changed('let {borrower} have {item}', 'get {item} to {borrower}', 'speech.yaml')),
    loadEnvironmentFolder(changed('MOST_LOANS = 3', 'MOST_LOANS = 2')),
  ])
  for (const hashOf of [(environment: typeof original) => toolsetSchemaSha256([environment]), environmentSha256]) {
    assert.is(hashOf(same), hashOf(original))
    assert.is(hashOf(reworded), hashOf(original))
    assert.is.not(hashOf(other), hashOf(original))
  }
})

for (const [what, before, after, complaint] of [
  [
    'imports something of the machine',
    '/** @param',
    "import 'node:fs'\n/** @param",
    /^foreign_import: .*index\.js imports "node:fs"; an environment/,
  ],
  [
    'imports what lies elsewhere',
    '/** @param',
    "import '../other.js'\n/** @param",
    /^foreign_import: .* imports "\.\.\/other\.js"/,
  ],
  [
    'imports while it runs',
    "name: 'items stay'",
    "name: String(import('node:fs'))",
    /^foreign_import: .* a module at run time/,
  ],
  [
    'imports a file that is not there',
    '/** @param',
    "import './gone.js'\n/** @param",
    /^bad_environment: .*gone\.js is imported, but cannot/,
  ],
  [
    'is not JavaScript',
    'const MOST_LOANS = 3',
    'const MOST_LOANS = = 3',
    /^bad_environment: .*index\.js: Unexpected token/,
  ],
  ['exports something else', 'export default (', 'export const world = (', /its default export is not a function/],
  ['makes nothing', 'return defineEnvironment(', 'defineEnvironment(', /its function does not return an environment/],
  [
    'contradicts itself',
    "missing: 'unknown_item'",
    "missing: 'lost_item'",
    /`missing` names "lost_item", which is not among/,
  ],
  [
    'breaks when it is made',
    'const PEOPLE = [',
    'const PEOPLE = nobody.and[',
    /nobody is not defined \(index\.js:\d+:\d+\)/,
  ],
] as const) {
  test(`one that ${what} is refused, and it is said where and why`, async () => {
    assert.match(await messageOf(loadEnvironmentFolder(changed(before, after))), complaint)
  })
}

test('a folder without an environment and names in use are rejected', async () => {
  assert.match(
    await messageOf(loadEnvironmentFolder(parent)),
    /^no_environment: .* has no readable index\.js.*"prove-server new <name>"/,
  )
  assert.match(
    await messageOf(admitEnvironments([folder, changed('14', '15')])),
    /^name_taken: .* already an environment library/,
  )
  const other = changed("name: 'library'", "name: 'bookshop'")
  assert.match(
    await messageOf(admitEnvironments([folder, other])),
    /^name_taken: .* the environment library also has a tool list_library_items/,
  )
  assert.match(await messageOf(writeTemplate('library', parent)), /^name_taken: .* was not changed/)
  assert.match(await messageOf(writeTemplate('banking', parent, ['banking'])), /^name_taken: .* choose another name/)
  for (const name of ['Library', '../library', ''])
    assert.match(
      await messageOf(writeTemplate(name, parent)),
      /^bad_environment: .* is not a valid name of an environment/,
    )
  assert.equal(['./a', '..', '/a', 'C:\\a', 'banking'].map(isEnvironmentFolder), [true, true, true, true, false])
})

/** Returns what the check whose name begins so reports about the environment with a text of one file replaced. */
async function complaintOf(check: string, before: string | RegExp, after: string, file?: string): Promise<string> {
  const { provoke } = (await import(join(folder, 'provoke.js'))) as Pick<ContractOptions, 'provoke'>
  const copy = changed(before, after, file)
  const environment = await loadEnvironmentFolder(copy)
  const speech = () => readSpeechFile(environment, join(copy, 'speech.yaml'), 'speech.yaml')
  const contract = environmentContract(environment, { provoke, speech })
  try {
    contract.find(({ name }) => name.startsWith(check))!.run()
    return 'no complaint'
  } catch (error) {
    return (error as Error).message
  }
}

for (const [what, check, before, after, complaint] of [
  [
    'a whole sentence',
    'can be asked',
    '- show me the things',
    '- Show me the things',
    /^speech\.yaml:9: list_library_items: the clause "Show me .*" is a whole/,
  ],
  [
    'too few clauses',
    'can be asked',
    '    - look at the {shelf} shelf\n',
    '',
    /^speech\.yaml:7: list_library_items has 2 clauses in `ask`/,
  ],
  [
    'an optional argument that no clause carries',
    'can be asked',
    /\[ (?:of|to|with) \{borrower\}\]/g,
    '',
    /^speech\.yaml:\d+: no clause of list_library_loans can carry the optional \{borrower\}/,
  ],
  [
    'a clause for no tool',
    'has speech',
    'end_library_loan:',
    'end_loan:',
    /has no tool "end_loan"; remove the entry\nspeech\.yaml: the tool end_library_loan has no entry/,
  ],
  [
    'an undecided entry',
    'leaves no speech',
    'end_library_loan:',
    'end_library_loan:\n  undecided: who may return an item',
    /^speech\.yaml:\d+: the speech of end_library_loan is undecided: who may return an item/,
  ],
] as const) {
  test(`the contract names ${what} of the speech file, with the line`, async () => {
    assert.match(await complaintOf(check, before, after, 'speech.yaml'), complaint)
  })
}

for (const [what, check, before, after, complaint] of [
  [
    'an argument without a description',
    'describes every',
    ".describe('Colour of the shelf.')",
    '',
    /list_library_items does not describe \{shelf\}/,
  ],
  [
    'dates that no calendar has',
    'takes no date',
    "z.string().min(1).max(40).describe('Who",
    "z.string().regex(/^\\d{4}-\\d\\d-\\d\\d$/).describe('Who",
    /lend_library_item takes 2026-02-30 for \{borrower\}/,
  ],
  [
    'dates that nobody would think of',
    'starts the same',
    'const DAYS = 14',
    'const DAYS = 14_000',
    /loans, due: 20[4-6].* is decades away/,
  ],
  [
    'a fact that nothing establishes',
    'produces every',
    "needs: ['something_lent']",
    "needs: ['rain']",
    /no other tool establishes rain/,
  ],
  [
    'samples that fail',
    'offers sampled',
    '({ item }) => !lendingObstacle(db, item, borrower)',
    '() => true',
    /lend_library_item: \d+ of \d+ sampled calls succeeded; the last that failed: .*already_lent/,
  ],
  [
    'a bound key that is lost',
    'keeps a bound',
    'choose(db.loans, random, bound.loan)',
    'choose(db.loans, random, undefined)',
    /end_library_loan, \{loan\}: sample was given "loan-/,
  ],
  [
    'chance of the machine',
    'starts the same',
    'random.sample(items, 3)',
    'items.toSorted(() => Math.random() - 0.5).slice(0, 3)',
    /it uses Math\.random, which differs from machine/,
  ],
  [
    'the clock of the machine',
    'stays sound, trans',
    'addDays(today(), DAYS)',
    'new Date().toISOString().slice(0, 10)',
    /it uses the clock of the machine/,
  ],
  [
    'a reading tool that writes',
    'stays sound, trans',
    'annotations: { readOnly: false },\n    // A fact',
    'annotations: { readOnly: true },\n    // A fact',
    /changed something, but the tool is declared readOnly/,
  ],
  [
    'a broken invariant',
    'stays sound over',
    'if (lent) return { code',
    'if (lent?.borrower === borrower) return { code',
    /nothing is lent twice: item-/,
  ],
  [
    'a failure that never comes',
    'has a provocation',
    "'There is no such item.',",
    "'There is no such item.',\n    closed: 'It is closed.',",
    /there is no provocation for closed/,
  ],
] as const) {
  test(`the checks find ${what}`, async () => assert.match(await complaintOf(check, before, after), complaint))
}

test.run()
