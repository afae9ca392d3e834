import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref, sensitive } from '../../kernel/fields.js'
import { usableCard } from '../lookup.js'
import { type Card, money, tool } from '../schema.js'

const pin = sensitive(z.string().regex(/^\d{4}$/, 'a PIN has four digits'))
const cardState = z.object({ name: z.string(), card: ref('card'), status: z.string() })

const listCards = tool({
  name: 'list_cards',
  description: 'List the cards of an account, without those reported lost.',
  input: z.strictObject({ account: ref('account') }),
  output: z.object({
    found: z.int(),
    cards: z.array(z.object({ name: z.string(), card: ref('card'), status: z.string(), limit: z.int() })),
  }),
  pages: { cards: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const usable = new Set(db.cards.list(({ status }) => status !== 'lost').map((card) => card.account))
    const account = choose(db.accounts, random, bound.account, (row) => usable.has(row.account))
    return account ? { account: account.account } : null
  },
  run({ account }, context) {
    context.rowOf('accounts', account)
    const cards = context.db.cards.list((row) => row.account === account && row.status !== 'lost')
    return { found: cards.length, cards }
  },
})

const freezeCard = tool({
  name: 'freeze_card',
  description: 'Freeze a card, so that nothing can be bought with it until it is unfrozen.',
  input: z.strictObject({ card: ref('card') }),
  output: cardState,
  annotations: { readOnly: false },
  establishes: ['card_frozen'],
  sample({ db, random, bound }) {
    const card = choose(db.cards, random, bound.card, ({ status }) => status === 'active')
    return card ? { card: card.card } : null
  },
  run({ card }, context) {
    const { db, fail } = context
    if (usableCard(context, card).status === 'frozen') fail('card_frozen', `${card} is frozen already.`)
    return db.cards.update(card, { status: 'frozen' })
  },
})

const unfreezeCard = tool({
  name: 'unfreeze_card',
  description: 'Make a frozen card usable again; its four-digit PIN is required.',
  input: z.strictObject({ card: ref('card'), pin: pin.describe('PIN of the card, four digits.') }),
  output: cardState,
  annotations: { readOnly: false },
  needs: ['card_frozen'],
  sample({ db, random, bound }) {
    const card = choose(
      db.cards,
      random,
      bound.card,
      (row) => row.status === 'frozen' && row.pin === (bound.pin ?? row.pin),
    )
    return card ? { card: card.card, pin: card.pin } : null
  },
  run({ card, pin }, context) {
    const { db, fail } = context
    const row = usableCard(context, card)
    if (row.status !== 'frozen') fail('card_not_frozen', `${card} is not frozen.`)
    if (row.pin !== pin) fail('wrong_pin')
    return db.cards.update(card, { status: 'active' })
  },
})

/** Limits as people name them, of which there are several below the lowest ceiling. */
const limitsUpTo = (ceiling: number): number[] =>
  [150, 200, 250, 300, 400, 500, 600, 750, 800, 1000, 1200, 1500, 2000, 2500, 3000].filter((limit) => limit <= ceiling)

const setCardLimit = tool({
  name: 'set_card_limit',
  description: 'Set what a card may spend in one day. The card must not be frozen.',
  input: z.strictObject({
    card: ref('card'),
    limit: money.describe('Most the card may spend in a day, in whole currency units.'),
  }),
  output: z.object({ name: z.string(), card: ref('card'), limit: z.int() }),
  annotations: { readOnly: false, idempotent: true },
  sample({ db, random, bound }) {
    const fits = ({ status, ceiling }: Card) => status === 'active' && ceiling >= (bound.limit ?? 0)
    const card = choose(db.cards, random, bound.card, fits)
    if (!card) return null
    const others = limitsUpTo(card.ceiling).filter((limit) => limit !== card.limit)
    return { card: card.card, limit: bound.limit ?? random.pick(others) }
  },
  run({ card, limit }, context) {
    const { db, fail } = context
    const { status, ceiling } = usableCard(context, card)
    if (status === 'frozen') fail('card_frozen', `${card} is frozen.`)
    if (limit > ceiling) fail('limit_too_high', `The limit of ${card} can be at most ${ceiling}.`)
    return db.cards.update(card, { limit })
  },
})

const reportCardLost = tool({
  name: 'report_card_lost',
  description:
    'Report a card lost for good. A replacement with a new PIN is issued, frozen until it is unfrozen with that PIN.',
  input: z.strictObject({ card: ref('card') }),
  output: z.object({
    name: z.string(),
    card: ref('card', 'The replacement.'),
    pin,
    status: z.string(),
    // Not a reference: nothing can be done with a lost card.
    replaces: z.string(),
  }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['card_frozen'],
  sample({ db, random, bound }) {
    const card = choose(db.cards, random, bound.card, ({ status }) => status !== 'lost')
    return card ? { card: card.card } : null
  },
  run({ card }, context) {
    const { db, nextId, random } = context
    const lost = usableCard(context, card)
    db.cards.update(card, { status: 'lost' })
    const issued = db.cards.insert({
      ...lost,
      card: nextId(card.replace(/-\d+$/, '')),
      pin: String(random.int(1001, 9998)),
      status: 'frozen',
    })
    return { ...issued, replaces: card }
  },
})

export const cardTools = [listCards, freezeCard, unfreezeCard, setCardLimit, reportCardLost]
