import { nameTask, type TaskBody } from '../../rollout/episode/index.js'
import type { Json, JsonObject } from '../../rollout/reward/index.js'
import type { Example, Exchange, Origin, ReferenceCall } from '../../tasks/dataset/example.js'

/** Conversations with a bank, for tests of the paraphraser. */

export const TODAY = '2026-03-02'

const ACCOUNTS = {
  found: 2,
  accounts: [
    { name: 'Salary Stash', account: 'checking-60', currency: 'EUR', status: 'open' },
    { name: 'Wedding Fund', account: 'checking-75', currency: 'EUR', status: 'open' },
  ],
}

function call(name: string, args: JsonObject, response: Json, truth: number | null): ReferenceCall {
  const ok = truth !== null
  return { environment: 'banking', name, arguments: args, response: JSON.stringify(response), ok, truth }
}

type Calls = readonly (readonly [turn: number, call: ReferenceCall])[]

function exampleFrom(
  said: readonly (readonly [user: string, assistant: string])[],
  calls: Calls,
  origins: readonly Readonly<Record<string, Origin>>[],
  kind: TaskBody['kind'] = 'multi-turn',
): Example {
  const exchanges = said.map(([user, assistant], turn): Exchange => {
    return { user, assistant, calls: calls.filter(([at]) => at === turn).map(([, made]) => made) }
  })
  const task = nameTask({
    kind,
    environments: [{ environment: 'banking', seed: 1 }],
    toolset: ['list_accounts', 'find_payee', 'send_payment', 'transfer_money'].map((tool) => ({
      environment: 'banking',
      tool,
    })),
    system: 'Today is Monday, 2 March 2026 (2026-03-02). The user is a nurse from Porto.',
    turns: said.map(([user]) => user),
    groundTruth: calls
      .filter(([, { truth }]) => truth !== null)
      .map(([turn, { name, arguments: args }], i) => ({ name, arguments: args, after: i === 0 ? [] : [i - 1], turn })),
    chain: 'banking:list_accounts>find_payee>send_payment',
  })
  const persona = 'a nurse from Porto'
  return {
    index: 0,
    split: 'train',
    task,
    information: 'complete',
    recovery: null,
    persona,
    exchanges,
    origins,
    speech: 'natural',
  }
}

/** A payment whose amount the user gives when asked, from an account meant by its place in a list. */
export const rent: Example = exampleFrom(
  [
    [
      'List my checking accounts. Then find Maria Lind among my payees and pay her from the first account, before noon.',
      'I found 2 accounts: Salary Stash and Wedding Fund. How much should Maria Lind get?',
    ],
    ['250, with the note "for March rent".', 'Done: 250 went to Maria Lind.'],
  ],
  [
    [0, call('list_accounts', { kind: 'checking' }, ACCOUNTS, 0)],
    [
      0,
      call(
        'find_payee',
        { name: 'Maria Lind' },
        { found: 1, payees: [{ name: 'Maria Lind', payee: 'maria-lind', bank: 'Alba', status: 'active' }] },
        1,
      ),
    ],
    [
      1,
      call(
        'send_payment',
        { account: 'checking-60', payee: 'maria-lind', amount: 250, note: 'for March rent' },
        { name: 'Maria Lind', transaction: 'tx-881', amount: 250, status: 'posted', balance: 1200 },
        2,
      ),
    ],
  ],
  [
    { kind: { from: 'user', turn: 0, phrase: 'checking' } },
    { name: { from: 'user', turn: 0, phrase: 'Maria Lind' } },
    {
      account: { from: 'result', call: 0, phrase: '' },
      payee: { from: 'result', call: 1, phrase: '' },
      amount: { from: 'user', turn: 1, phrase: '250' },
      note: { from: 'user', turn: 1, phrase: 'for March rent' },
    },
  ],
)

/** Good words for `rent`. */
export const rentRetold = [
  {
    user: 'Hi! Which checking accounts do I have? Please look up Maria Lind, she is one of my payees, and send her money out of the first account before noon.',
    assistant: 'You have 2 accounts, Salary Stash and Wedding Fund. What amount do you want to send to Maria Lind?',
  },
  { user: 'Make it 250 and put "for March rent" as the note.', assistant: 'Maria Lind has been paid 250.' },
]

/** A transfer that fails with the first amount and works with the second. */
export const transfer: Example = exampleFrom(
  [
    [
      'Show my checking accounts and move 9000 from Salary Stash to Wedding Fund.',
      'That failed: only 1450 is available.',
    ],
    ['Then make it 90.', 'I moved 90.'],
  ],
  [
    [0, call('list_accounts', { kind: 'checking' }, ACCOUNTS, 0)],
    [
      0,
      call(
        'transfer_money',
        { from_account: 'checking-60', to_account: 'checking-75', amount: 9000 },
        { error: 'insufficient_funds', message: 'Only 1450 is available.' },
        null,
      ),
    ],
    [
      1,
      call(
        'transfer_money',
        { from_account: 'checking-60', to_account: 'checking-75', amount: 90 },
        { transfer: 'tr-17', amount: 90, status: 'posted', from_balance: 1360, to_balance: 210 },
        1,
      ),
    ],
  ],
  [
    { kind: { from: 'user', turn: 0, phrase: 'checking' } },
    {
      from_account: { from: 'result', call: 0, phrase: 'Salary Stash' },
      to_account: { from: 'result', call: 0, phrase: 'Wedding Fund' },
      amount: { from: 'user', turn: 1, phrase: '90' },
    },
  ],
)

export const transferRetold = [
  {
    user: 'What checking accounts are there? Shift 9000 from Salary Stash over to Wedding Fund for me.',
    assistant: 'Sorry, that did not work, because no more than 1450 is available.',
  },
  { user: 'All right, 90 in that case.', assistant: 'The 90 are moved.' },
]

/** Nothing on offer can serve this one. */
export const weather: Example = exampleFrom(
  [['Will it rain in Porto tomorrow?', 'I have no tool for that.']],
  [],
  [],
  'abstention',
)

/** The story again under another name: the n-th customer asks in other words. */
export function numbered(n: number): Example {
  const { id: _, ...body } = rent.task
  const user = `${rent.exchanges[0]!.user} This is my request ${n}.`
  const task = nameTask({ ...body, turns: [user, rent.exchanges[1]!.user] })
  const [first, second] = rent.exchanges
  return { ...rent, index: n, task, exchanges: [{ ...first!, user }, second!] }
}
