import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  list_accounts: {
    goal: 'see which accounts I have',
    answer: 'You have {found:@kind account}[: {accounts*{name} ({currency}, {status})}].',
    said: ['kind'],
    wishes: ['see what money is there'],
  },
  get_balance: {
    goal: 'check the balance of an account',
    answer: 'The balance of {name} is {balance} {currency}, and {available} {currency} is available to spend.',
    wishes: ['see what money is there'],
  },
  transfer_money: {
    goal: 'move money between my accounts',
    answer:
      'I moved {amount}: the account it came from now has {from_balance}, and the one it went to has {to_balance}. The transfer is {status}.',
    checks: ['get_balance'],
    wishes: ['pay somebody'],
  },
  find_payee: {
    goal: 'check whether somebody is one of my payees',
    answer: 'I found {found:payee}[: {payees*{name} at {bank} ({status})}].',
    wishes: ['find a person'],
  },
  add_payee: {
    goal: 'add a new payee',
    answer: '{name} at {bank} is now one of your payees, with the status {status}.',
    said: ['name'],
    next: ['send_payment', 'create_standing_order'],
    checks: [],
  },
  send_payment: {
    goal: 'send a payment to somebody',
    answer: 'The payment of {amount} to {name} is {status}, and {balance} is left in the account.',
    checks: ['get_balance'],
    wishes: ['pay somebody'],
  },
  cancel_payment: {
    goal: 'cancel a payment',
    answer: 'The payment to {name} is {status}; the account now holds {balance}.',
    checks: ['get_balance'],
  },
  search_transactions: {
    goal: 'look for a transaction',
    answer: 'I found {found:transaction}[: {transactions*{name}, {amount} ({status})}].',
    wishes: ['list payments'],
  },
  dispute_transaction: {
    goal: 'dispute a transaction',
    answer: 'The transaction with {name} is now {status}.',
    next: ['report_card_lost'],
    checks: [],
  },
  list_cards: {
    goal: 'see the cards of an account',
    answer: 'The account has {found:card}[: {cards*{name} ({status}, daily limit {limit})}].',
  },
  freeze_card: {
    goal: 'freeze a card',
    answer: 'The card "{name}" is {status}.',
    said: ['card'],
    next: ['report_card_lost'],
    checks: [],
  },
  unfreeze_card: {
    goal: 'unfreeze a card',
    answer: 'The card "{name}" is {status} again.',
    next: ['set_card_limit'],
    checks: [],
  },
  set_card_limit: {
    goal: 'change the limit of a card',
    answer: 'The daily limit of the card "{name}" is now {limit}.',
    checks: [],
  },
  report_card_lost: {
    goal: 'report a lost card',
    answer: 'I reported the card as lost. Its replacement "{name}" has the PIN {pin} and is {status}.',
    said: ['card'],
    checks: [],
  },
  create_standing_order: {
    goal: 'set up a standing order',
    answer: 'The standing order to {name} is set up: {amount} {frequency}, for the first time on {next_date}.',
    checks: ['list_standing_orders'],
  },
  list_standing_orders: {
    goal: 'see the standing orders of an account',
    answer: 'The account has {found:standing order}[: {standing_orders*{amount} {frequency} to {name}}].',
  },
  cancel_standing_order: {
    goal: 'cancel a standing order',
    answer: 'The standing order to {name} is {status}.',
    said: ['standing_order'],
    checks: ['list_standing_orders'],
  },
}
