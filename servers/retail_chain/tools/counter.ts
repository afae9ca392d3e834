import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { availableOf, closingObstacle, LIMITS, openReservations, stockKey, stockOf } from '../rules.js'
import { chooseStock } from '../sampling.js'
import { money, OUTCOMES, tool } from '../schema.js'
import { FIRST_NAMES, LAST_NAMES } from '../words.js'

const reserveArticle = tool({
  name: 'reserve_article',
  description: `Keep pieces of an article in a store for a customer to pick up within ${LIMITS.reservationDays} days, at today's price. A customer can have ${LIMITS.reservations} open reservations.`,
  input: z.strictObject({
    article: ref('article'),
    store: ref('store'),
    quantity: z.int().min(1).max(5).describe('Pieces.'),
    customer_name: z.string().trim().min(3).max(40).describe('Who picks them up.'),
  }),
  output: z.object({
    title: z.string(),
    reservation: ref('reservation'),
    customer_name: z.string(),
    price: money.describe('Per piece'),
    until: common('date', z.string()),
    available: z.int().describe('Left for others'),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const least = bound.quantity ?? 1
    const row = chooseStock(db, random, bound, (stock) => availableOf(stock) >= least)
    if (!row) return null
    const name = bound.customer_name ?? `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`
    if (openReservations(db, name) >= LIMITS.reservations) return null
    return {
      article: row.article,
      store: row.store,
      quantity: bound.quantity ?? Math.min(random.pick([1, 1, 2, 3]), availableOf(row)),
      customer_name: name,
    }
  },
  run({ article: key, store, quantity, customer_name }, context) {
    const { rowOf, db, fail, nextId, today } = context
    const article = rowOf('articles', key)
    const stock = stockOf(context, rowOf('stores', store), article)
    const available = availableOf(stock)
    if (available < quantity) fail('not_enough_stock', `${available} of ${article.title} can be reserved there.`)
    const open = openReservations(db, customer_name)
    if (open >= LIMITS.reservations) fail('too_many_reservations', `${customer_name} has ${open} open reservations.`)
    db.stocks.update(stock.stock, { reserved: stock.reserved + quantity })
    const { reservation, price, until } = db.reservations.insert({
      reservation: nextId('reservation'),
      article: key,
      store,
      customer_name,
      quantity,
      price: stock.price,
      until: addDays(today(), LIMITS.reservationDays),
      status: 'open',
    })
    return { title: article.title, reservation, customer_name, price, until, available: available - quantity }
  },
})

const closeReservation = tool({
  name: 'close_reservation',
  description:
    'Close a reservation: collected when the customer pays and takes the pieces, in an open store and before it expires, or cancelled, which frees them.',
  input: z.strictObject({ reservation: ref('reservation'), outcome: z.enum(OUTCOMES).describe('What became of it.') }),
  output: z.object({
    title: z.string(),
    reservation: ref('reservation'),
    customer_name: z.string(),
    status: z.string(),
    paid: money,
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const outcome = bound.outcome ?? (random.chance(0.6) ? 'collected' : 'cancelled')
    const row = choose(
      db.reservations,
      random,
      bound.reservation,
      (reservation) => !closingObstacle(db, reservation, outcome, now()),
    )
    return row ? { reservation: row.reservation, outcome } : null
  },
  run({ reservation: key, outcome }, { unless, rowOf, db, now }) {
    const row = rowOf('reservations', key)
    unless(closingObstacle(db, row, outcome, now()))
    const stock = db.stocks.get(stockKey(row.store, row.article))!
    const reserved = stock.reserved - row.quantity
    const paid = outcome === 'collected' ? row.price * row.quantity : 0
    if (outcome === 'cancelled') db.stocks.update(stock.stock, { reserved })
    else {
      db.stocks.update(stock.stock, {
        reserved,
        on_hand: stock.on_hand - row.quantity,
        sold: stock.sold + row.quantity,
      })
      db.stores.update(row.store, { takings: db.stores.get(row.store)!.takings + paid })
    }
    const { status } = db.reservations.update(key, { status: outcome })
    const { title } = db.articles.get(row.article)!
    return { title, reservation: key, customer_name: row.customer_name, status, paid }
  },
})

export const counterTools = [reserveArticle, closeReservation]
