import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import type { SeededRandom } from '../../kernel/random.js'
import {
  availableOf,
  closedObstacle,
  daysBetween,
  isOpen,
  receiveObstacle,
  reorderObstacle,
  roomOf,
  stockKey,
  stockOf,
  transferObstacle,
} from '../rules.js'
import { chooseStock, isNeediest } from '../sampling.js'
import { type Stock, tool } from '../schema.js'

const shipmentSent = z.object({
  title: z.string(),
  shipment: ref('shipment'),
  quantity: z.int(),
  due: common('date', z.string()),
  status: z.string(),
})

/** From two to `most`, as people seldom move a single piece; one if that is the most. */
const upTo = (random: SeededRandom, most: number): number => random.int(Math.min(2, most), most)

const transferStock = tool({
  name: 'transfer_stock',
  description:
    'Send pieces of an article from one store, which must be open, to another that carries it and has room. It arrives the same day within a city, the next within a country, else after two days, and counts there once it is received.',
  input: z.strictObject({
    article: ref('article'),
    from_store: ref('store', 'Store that sends them, from find_stores.'),
    to_store: ref('store', 'Store that gets them, from find_stores.'),
    quantity: z.int().min(1).max(50).describe('Pieces.'),
  }),
  output: shipmentSent,
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const at = now()
    const least = bound.quantity ?? 1
    const from = chooseStock(
      db,
      random,
      { store: bound.from_store, article: bound.article },
      (row) =>
        isOpen(db.stores.get(row.store)!, at) &&
        db.stocks
          .by('article', row.article)
          .some(
            (to) =>
              to.store === (bound.to_store ?? to.store) &&
              to.on_hand < row.on_hand &&
              isNeediest(db, to) &&
              !transferObstacle(row, to, least),
          ),
    )
    if (!from) return null
    const toStore = (fits: (row: Stock) => boolean) =>
      chooseStock(
        db,
        random,
        { store: bound.to_store, article: from.article },
        (row) => !transferObstacle(from, row, least) && row.on_hand < from.on_hand && isNeediest(db, row) && fits(row),
      )
    // Help comes from near by, to where there is less.
    const { city } = db.stores.get(from.store)!
    const to = toStore((row) => db.stores.get(row.store)!.city === city) ?? toStore(() => true)
    if (!to) return null
    const quantity = bound.quantity ?? upTo(random, Math.min(8, availableOf(from), roomOf(to)))
    return { article: from.article, from_store: from.store, to_store: to.store, quantity }
  },
  run({ article: key, from_store, to_store, quantity }, context) {
    const { unless, rowOf, db, nextId, now, today } = context
    const article = rowOf('articles', key)
    const sender = rowOf('stores', from_store)
    const receiver = rowOf('stores', to_store)
    const from = stockOf(context, sender, article)
    const to = stockOf(context, receiver, article)
    unless(transferObstacle(from, to, quantity))
    unless(closedObstacle(sender, now()))
    db.stocks.update(from.stock, { on_hand: from.on_hand - quantity })
    db.stocks.update(to.stock, { incoming: to.incoming + quantity })
    return db.shipments.insert({
      shipment: nextId('shipment'),
      article: key,
      title: article.title,
      quantity,
      from_store,
      to_store,
      due: addDays(today(), daysBetween(sender.city, receiver.city)),
      status: 'transit',
    })
  },
})

const reorderStock = tool({
  name: 'reorder_stock',
  description:
    'Order full packs of an article from the warehouse for a store that carries it and has room. A store can wait for only one such shipment of an article at a time.',
  input: z.strictObject({
    article: ref('article'),
    store: ref('store'),
    packs: z.int().min(1).max(10).describe('Full packs.'),
  }),
  output: shipmentSent,
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    for (const least of bound.packs === undefined ? [2, 1] : [bound.packs]) {
      const row = chooseStock(
        db,
        random,
        bound,
        // Of what there is plenty nobody orders more.
        (stock) =>
          2 * (stock.on_hand + stock.incoming) <= stock.capacity &&
          isNeediest(db, stock) &&
          !reorderObstacle(db, db.articles.get(stock.article)!, stock, least),
      )
      if (!row) continue
      const { pack, warehouse } = db.articles.get(row.article)!
      const most = Math.min(4, Math.floor(Math.min(warehouse, roomOf(row)) / pack))
      return { article: row.article, store: row.store, packs: bound.packs ?? random.int(least, most) }
    }
    return null
  },
  run({ article: key, store, packs }, context) {
    const { unless, rowOf, db, nextId, today } = context
    const article = rowOf('articles', key)
    const receiver = rowOf('stores', store)
    const to = stockOf(context, receiver, article)
    unless(reorderObstacle(db, article, to, packs))
    const quantity = packs * article.pack
    db.articles.update(key, { warehouse: article.warehouse - quantity })
    db.stocks.update(to.stock, { incoming: to.incoming + quantity })
    return db.shipments.insert({
      shipment: nextId('shipment'),
      article: key,
      title: article.title,
      quantity,
      from_store: null,
      to_store: store,
      due: addDays(today(), daysBetween(db.warehouses.get('warehouse')!.city, receiver.city)),
      status: 'transit',
    })
  },
})

const receiveShipment = tool({
  name: 'receive_shipment',
  description: 'Book a shipment that has arrived into the stock of its store, which must be open.',
  input: z.strictObject({ shipment: ref('shipment') }),
  output: z.object({
    title: z.string(),
    shipment: ref('shipment'),
    article: ref('article'),
    store: z.string(),
    on_hand: z.int(),
    status: z.string(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, now }) {
    const row = choose(db.shipments, random, bound.shipment, (shipment) => !receiveObstacle(db, shipment, now()))
    return row ? { shipment: row.shipment } : null
  },
  run({ shipment: key }, { unless, rowOf, db, now }) {
    const row = rowOf('shipments', key)
    unless(receiveObstacle(db, row, now()))
    const stock = db.stocks.get(stockKey(row.to_store, row.article))!
    const { on_hand } = db.stocks.update(stock.stock, {
      on_hand: stock.on_hand + row.quantity,
      incoming: stock.incoming - row.quantity,
    })
    const { status } = db.shipments.update(key, { status: 'received' })
    return { title: row.title, shipment: key, article: row.article, store: row.to_store, on_hand, status }
  },
})

export const movementTools = [transferStock, reorderStock, receiveShipment]
