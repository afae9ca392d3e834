import { z } from 'zod'
import { chooseByDraws } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { type Outcome, payBack, payOut, ratingObstacle, settleObstacle } from '../escrow.js'
import { LIMITS } from '../rules.js'
import { type MarketDb, OUTCOMES, type Sale, tool, YOU } from '../schema.js'

const settleSale = tool({
  name: 'settle_sale',
  description: `Decide about the money of a sale in escrow. As the buyer: release it to the seller once shipped, dispute the sale within ${LIMITS.disputeDays} days of shipping or when nothing was shipped for ${LIMITS.shipDays} days, or cancel a fixed-price purchase within ${LIMITS.cancelMinutes} minutes. As the seller: refund what is not shipped or is disputed, or claim the money ${LIMITS.disputeDays} days after shipping. The market keeps ${LIMITS.saleFee} % of a completed sale.`,
  input: z.strictObject({
    sale: ref('sale'),
    outcome: z.enum(OUTCOMES).describe('What happens to the money in escrow.'),
  }),
  output: z.object({
    title: z.string(),
    sale: ref('sale'),
    own_listing: ref('own_listing', 'What you refunded, to be relisted.').optional(),
    stage: z.string(),
    amount: z.int(),
    wallet: z.int(),
  }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['sale_completed'],
  sample({ db, random, bound, now }) {
    const moment = now()
    const outcomes = bound.outcome === undefined ? random.shuffle(OUTCOMES) : [bound.outcome]
    for (const outcome of outcomes) {
      // Who is in dispute does not pay after all.
      const fits = (sale: Sale) =>
        !(outcome === 'release' && sale.stage === 'disputed') && !settleObstacle(db, moment, sale, outcome)
      const row = chooseByDraws(db.sales, random, bound.sale, fits)
      if (row) return { sale: row.sale, outcome }
    }
    return null
  },
  run({ sale, outcome }, { rowOf, unless, db, now, today }) {
    const moment = now()
    const row = rowOf('sales', sale)
    unless(settleObstacle(db, moment, row, outcome))
    const after = settle(db, row, outcome, today())
    const back = outcome === 'refund' ? { own_listing: row.listing } : {}
    return { ...after, ...back, wallet: db.members.get(YOU)!.wallet }
  },
})

function settle(db: MarketDb, sale: Sale, outcome: Outcome, today: string): Sale {
  if (outcome === 'dispute') return db.sales.update(sale.sale, { stage: 'disputed' })
  return outcome === 'release' || outcome === 'claim' ? payOut(db, sale, today) : payBack(db, sale, today)
}

/** Who is not content disputes, and rates no purchase that went well with one star; most are. */
const STARS = [1, 3, 4, 4, 4, 5, 5, 5, 5, 5] as const

const rateSale = tool({
  name: 'rate_sale',
  description: `Give the seller of a completed purchase one to five stars, once and within ${LIMITS.ratingDays} days of its completion.`,
  input: z.strictObject({ sale: ref('sale'), stars: z.int().min(1).max(5).describe('1 is worst, 5 is best.') }),
  // `sale` is no reference: nothing more can be done with it.
  output: z.object({ title: z.string(), sale: z.string(), stars: z.int(), seller: z.string(), ratings: z.int() }),
  annotations: { readOnly: false },
  needs: ['sale_completed'],
  sample({ db, random, bound, today }) {
    const row = chooseByDraws(db.sales, random, bound.sale, (sale) => !ratingObstacle(today(), sale))
    return row ? { sale: row.sale, stars: bound.stars ?? random.pick(STARS) } : null
  },
  run({ sale, stars }, { rowOf, unless, db, today }) {
    const row = rowOf('sales', sale)
    unless(ratingObstacle(today(), row))
    db.sales.update(sale, { stars })
    const seller = db.members.get(row.seller)!
    const { name, ratings } = db.members.update(row.seller, {
      stars: seller.stars + stars,
      ratings: seller.ratings + 1,
    })
    return { title: row.title, sale, stars, seller: name, ratings }
  },
})

export const settlingTools = [settleSale, rateSale]
