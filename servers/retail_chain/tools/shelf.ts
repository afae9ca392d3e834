import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { availableOf, countObstacle, isLow, LIMITS, markdownObstacle, reducedPrice, roomOf, stockOf } from '../rules.js'
import { chooseStock, isNeediest } from '../sampling.js'
import { money, pieces, tool } from '../schema.js'

const MARKDOWNS = [10, 15, 20, 25, 30, 40, 50]

const markDownArticle = tool({
  name: 'mark_down_article',
  description:
    'Set the price of an article in one store to a percentage below its list price. It must get cheaper, but not cheaper than the chain bought it; once a day. Reservations keep their price.',
  input: z.strictObject({
    article: ref('article'),
    store: ref('store'),
    percent: z.int().min(5).max(70).describe('Percent below the list price.'),
  }),
  output: z.object({
    title: z.string(),
    // Not a reference: with a new price on the shelf the work is done.
    article: z.string(),
    store: z.string(),
    price: money,
    before: money,
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const percents = random.shuffle(bound.percent === undefined ? MARKDOWNS : [bound.percent])
    for (const percent of percents) {
      const row = chooseStock(
        db,
        random,
        bound,
        // What runs low anyway sells at its price.
        (stock) =>
          !isLow(stock) &&
          // Where nothing is left there is nothing to sell.
          availableOf(stock) > 0 &&
          // Nor does anybody take a little more off what is marked down already.
          stock.price === db.articles.get(stock.article)!.price &&
          isNeediest(db, stock) &&
          !markdownObstacle(db.articles.get(stock.article)!, stock, percent, today()),
      )
      if (row) return { article: row.article, store: row.store, percent }
    }
    return null
  },
  run({ article: key, store, percent }, context) {
    const { unless, rowOf, db, today } = context
    const article = rowOf('articles', key)
    const stock = stockOf(context, rowOf('stores', store), article)
    unless(markdownObstacle(article, stock, percent, today()))
    const { price } = db.stocks.update(stock.stock, {
      price: reducedPrice(article.price, percent),
      marked_down: today(),
    })
    return { title: article.title, article: key, store, price, before: stock.price }
  },
})

const countStock = tool({
  name: 'count_stock',
  description: `Record how many pieces of an article were counted in a store, reserved ones included. The books are corrected, but a count more than ${LIMITS.countTolerance} off needs a second one with the same result. Settled once a day.`,
  input: z.strictObject({
    article: ref('article'),
    store: ref('store'),
    counted: z.int().min(0).max(200).describe('Pieces counted, reserved ones included.'),
  }),
  output: z.object({
    title: z.string(),
    article: ref('article'),
    store: z.string(),
    on_hand: pieces,
    difference: z.int(),
    status: z.enum(['confirmed', 'corrected', 'recount']),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const row = chooseStock(
      db,
      random,
      bound,
      (stock) => isNeediest(db, stock) && !countObstacle(stock, bound.counted ?? stock.on_hand, today()),
    )
    if (!row) return null
    // More is missing than turns up, and now and then so much that it has to be counted again.
    const off = random.chance(0.06) ? random.int(-9, 6) : random.int(-3, 1)
    // Nobody goes on about an article of which none is there.
    const least = Math.max(1, row.reserved, row.on_hand + off)
    return {
      article: row.article,
      store: row.store,
      counted: bound.counted ?? Math.min(least, row.on_hand + roomOf(row)),
    }
  },
  run({ article: key, store, counted }, context) {
    const { unless, rowOf, db, today } = context
    const article = rowOf('articles', key)
    const stock = stockOf(context, rowOf('stores', store), article)
    unless(countObstacle(stock, counted, today()))
    const difference = counted - stock.on_hand
    const stated = { title: article.title, article: key, store, difference }
    if (Math.abs(difference) > LIMITS.countTolerance && stock.doubted_count !== counted) {
      db.stocks.update(stock.stock, { doubted_count: counted })
      return { ...stated, on_hand: stock.on_hand, status: 'recount' as const }
    }
    const { on_hand } = db.stocks.update(stock.stock, {
      on_hand: counted,
      missing: stock.missing - difference,
      counted: today(),
      doubted_count: null,
    })
    return { ...stated, on_hand, status: difference === 0 ? ('confirmed' as const) : ('corrected' as const) }
  },
})

export const shelfTools = [markDownArticle, countStock]
