import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { isAskedAtOnce } from '../../../tasks/synthesis/making/asked-together.js'
import { silentSteps } from '../../../tasks/synthesis/making/conversation-script.js'
import { canBeStated, tellReferences } from '../../../tasks/synthesis/making/state-references.js'
import type { Step } from '../../../tasks/synthesis/making/step.js'
import type { Way } from '../../../tasks/synthesis/way.js'
import { naturalSpeech } from '../../../tasks/synthesis/wording/natural-speech.js'
import type { Ask } from '../../../tasks/synthesis/wording/speech.js'
import { speaksOfSeveral } from '../../../tasks/synthesis/wording/tool-phrases.js'
import { momentOf } from '../../support/speech-samples.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('one thing of several')
const HEARING = { stated: true, inTime: true }

const step = (
  environmentName: string,
  name: string,
  args: JsonObject,
  output: JsonObject,
  bindings: Step['bindings'] = [],
) => {
  const environment = CATALOGUE.get(environmentName)!
  return { environment, tool: environment.toolsByName.get(name)!, args, output, bindings }
}

test('is what a clause does not ask for that says the plural, or what there is', () => {
  const said = (clause: string, noun: string, label = 'name') => speaksOfSeveral(clause, { noun, label })
  assert.ok(said('find the emails with "{words}"', 'email', 'subject'))
  assert.ok(said('list my saved places', 'place'))
  assert.ok(said('find out what we spent on "{text}"', 'expense', 'description'))
  assert.ok(said('search my email for "{words}"', 'email', 'subject'))
  assert.ok(said('list every directory called {pattern}', 'directory'), 'any number of them')
  assert.not.ok(said('find the message about "{words}"', 'message', 'text'))
  assert.not.ok(said('search the channels for {name}', 'channel'), 'one of that name is looked for')
  assert.not.ok(said('find {name} among my payees', 'payee'), 'they are only looked through')
})

const TITLE = 'Anniversary campaign'
const found = {
  found: 1,
  invoices: [{ title: TITLE, invoice: 'invoice-20', status: 'paid', customer: 'linden-books', owed: 0 }],
}
const only: Way = { how: 'only', noun: 'invoice' }
const label: Way = { how: 'label', noun: 'invoice', label: TITLE }
function refunded(args: JsonObject, ways: readonly Way[]): Step[] {
  const binding = { field: 'invoice', value: 'invoice-20', source: 0, entity: 'invoice', ways }
  return [
    step('payments', 'search_invoices', args, found),
    step('payments', 'void_invoice', { invoice: 'invoice-20' }, {}, [binding]),
  ]
}

test('is meant when it was told: nobody has invoices listed and goes on about "that invoice"', () => {
  const steps = refunded({ words: TITLE }, [only])
  assert.not.ok(canBeStated(steps, [[0, 1]], HEARING))
  assert.ok(canBeStated(steps, [[0], [1]], HEARING))
  const chat = { found: 1, messages: [{ text: 'The lunch is at noon', message: 'message-22' }] }
  const message: Way = { how: 'only', noun: 'message' }
  const binding = { field: 'message', value: 'message-22', source: 0, entity: 'message', ways: [message] }
  const pinned = [
    step('team_chat', 'search_chat_messages', { words: 'lunch is at noon' }, chat),
    step('team_chat', 'pin_chat_message', { message: 'message-22' }, {}, [binding]),
  ]
  assert.ok(canBeStated(pinned, [[0, 1]], HEARING), 'one way to ask speaks of one')
})

test('is looked up unasked where it is called by its name', () => {
  const steps = refunded({ words: TITLE }, [label])
  const stated = tellReferences(steps, [[0, 1]], HEARING, seededRandom(1))!
  for (let seed = 0; seed < 30; seed++) assert.ok(silentSteps(stated, [[0, 1]], seededRandom(seed)).has(0))
  assert.not.ok(
    canBeStated(refunded({ words: TITLE, status: 'paid' }, [label]), [[0, 1]], HEARING),
    'it has to be asked for',
  )
})

test('is not accepted, shipped or paid for unseen', () => {
  const offers = { found: 1, entries: [{ title: 'Round Mirror', offer: 'offer-28', state: 'received', amount: 108 }] }
  const list = step('marketplace', 'list_market_activity', { kind: 'offers', text: 'Round Mirror' }, offers)
  assert.not.ok(isAskedAtOnce(list, 'offer', step('marketplace', 'answer_offer', {}, {})))
  const payees = { found: 1, payees: [{ name: 'Ana Lima', payee: 'ana-lima', bank: 'Unity', status: 'active' }] }
  const payee = step('banking', 'find_payee', { name: 'Ana Lima' }, payees)
  assert.ok(isAskedAtOnce(payee, 'payee', step('banking', 'send_payment', {}, {})))
})

test('is spoken of in the singular by who goes on with it at once', () => {
  const chat = CATALOGUE.get('team_chat')!
  const ask = (name: string, args: Ask['args'], references: Ask['references'] = new Map()): Ask => ({
    environment: chat,
    tool: chat.toolsByName.get(name)!,
    args,
    references,
  })
  const search = ask('search_chat_messages', { words: 'lunch is at noon' })
  const way: Way = { how: 'only', noun: 'message' }
  const pin = ask('pin_chat_message', { message: 'message-22' }, new Map([['message', way]]))
  const words = (asks: readonly Ask[]): string[] =>
    Array.from({ length: 60 }, (_, i) => naturalSpeech.request(asks, momentOf(i))!.text)
  const several = /\bwho wrote|\bsearch the chat/i
  for (const text of words([search, pin])) assert.not.match(text, several)
  assert.ok(words([search]).some((text) => several.test(text)))
})

test('that comes of a change under a name just heard is not called by it again', () => {
  const recalled = { subject: 'Heating photos', email: 'mail-97', draft: 'draft-205', status: 'recalled' }
  const mail = { found: 1, emails: [{ subject: 'Heating photos', email: 'mail-97', contact: 'diana-hoffman' }] }
  const email: Way = { how: 'only', noun: 'email' }
  const ways: Way[] = [
    { how: 'only', noun: 'draft' },
    { how: 'label', noun: 'draft', label: 'Heating photos' },
  ]
  const steps = [
    step('email', 'search_emails', { words: 'heating' }, mail),
    step('email', 'recall_email', { email: 'mail-97' }, recalled, [
      { field: 'email', value: 'mail-97', source: 0, entity: 'email', ways: [email] },
    ]),
    step('email', 'edit_draft', { draft: 'draft-205', body: 'Please pick' }, {}, [
      { field: 'draft', value: 'draft-205', source: 1, entity: 'draft', ways },
    ]),
  ]
  for (let seed = 0; seed < 20; seed++) {
    const stated = tellReferences(steps, [[0], [1, 2]], HEARING, seededRandom(seed))!
    assert.equal(stated[2]!.bindings[0]!.way, ways[0])
  }
})

test('has no place where two lists were told of', () => {
  const stores = (first: string) => ({
    found: 2,
    stores: [
      { name: first, store: first.toLowerCase() },
      { name: 'Rome Park', store: 'rome-park' },
    ],
  })
  const place: Way = { how: 'place', noun: 'store', place: 1, of: 2 }
  const binding = { field: 'store', value: 'milan', source: 1, entity: 'store', ways: [place] }
  const steps = (first: Step): Step[] => [
    first,
    step('retail_chain', 'find_stores', { city: 'Milan' }, stores('Milan')),
    step('retail_chain', 'show_store', { store: 'milan' }, {}, [binding]),
  ]
  const stock = step('retail_chain', 'check_stock', { article: 'bench-50' }, { title: 'Bench', ...stores('Paris') })
  const articles = [
    { title: 'Bench', article: 'bench-50' },
    { title: 'Desk', article: 'desk-2' },
  ]
  const search = step('retail_chain', 'search_articles', { text: 'e' }, { found: 2, articles })
  for (const first of [stock, search]) {
    assert.not.ok(canBeStated(steps(first), [[0, 1], [2]], HEARING))
    assert.ok(canBeStated(steps(first), [[0], [1], [2]], HEARING))
  }
})

test.run()
