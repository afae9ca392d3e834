import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref, sensitive } from '../../kernel/fields.js'
import { customerOf } from '../rules.js'
import { money, tool } from '../schema.js'

const listPaymentMethods = tool({
  name: 'list_payment_methods',
  description:
    'List how you can pay in the shop, with what each method still covers, and your loyalty points. Pending points cannot be spent yet.',
  input: z.strictObject({}),
  output: z.object({
    points: z.int(),
    pending_points: z.int(),
    payment_methods: z.array(
      z.object({ name: z.string(), payment_method: ref('payment_method'), available: money, status: z.string() }),
    ),
  }),
  pages: { payment_methods: 'short' },
  annotations: { readOnly: true },
  sample: () => ({}),
  run(_, { db }) {
    const { points, pending_points } = customerOf(db)
    return { points, pending_points, payment_methods: db.payment_methods.list() }
  },
})

const redeemGiftCard = tool({
  name: 'redeem_gift_card',
  description: 'Add the whole value of a gift card to your store credit, from which orders can be paid.',
  input: z.strictObject({
    code: sensitive(z.string().trim().min(5).max(40).describe('As printed on the card')),
  }),
  output: z.object({ name: z.string(), payment_method: ref('payment_method'), added: money, available: money }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const row = choose(db.gift_cards, random, bound.code, ({ redeemed, expires }) => !redeemed && expires >= today())
    return row ? { code: row.code } : null
  },
  run({ code }, { db, fail, today }) {
    const card = db.gift_cards.get(code.toLowerCase()) ?? fail('unknown_gift_card')
    if (card.redeemed) fail('gift_card_redeemed')
    if (card.expires < today()) fail('gift_card_expired', `It expired on ${card.expires}.`)
    db.gift_cards.update(card.code, { redeemed: true })
    const credit = db.payment_methods.get('store-credit')!
    const { available } = db.payment_methods.update('store-credit', { available: credit.available + card.amount })
    return { name: credit.name, payment_method: 'store-credit', added: card.amount, available }
  },
})

export const paymentTools = [listPaymentMethods, redeemGiftCard]
