import type { Account, BankingView, Card, FailureCode, Payee } from '../schema.js'

interface Reader {
  readonly db: BankingView
  fail(code: FailureCode, detail?: string): never
}

export function accountOf({ db, fail }: Reader, key: string): Account {
  return db.accounts.get(key) ?? fail('unknown_account', `There is no account ${key}.`)
}

export function payeeOf({ db, fail }: Reader, key: string): Payee {
  return db.payees.get(key) ?? fail('unknown_payee', `There is no payee ${key}.`)
}

/** The card, unless it was reported lost: nothing can be done with it then. */
export function usableCard({ db, fail }: Reader, key: string): Card {
  const card = db.cards.get(key) ?? fail('unknown_card', `There is no card ${key}.`)
  return card.status === 'lost' ? fail('card_lost', `${key} was reported lost.`) : card
}

/** Entries that a list or search shows at most. */
export const SHOWN = 5
