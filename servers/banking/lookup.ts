import type { Card, Context } from './schema.js'

/** The card, unless it was reported lost: nothing can be done with it then. */
export function usableCard({ rowOf, fail }: Context, key: string): Card {
  const card = rowOf('cards', key)
  return card.status === 'lost' ? fail('card_lost', `${key} was reported lost.`) : card
}
