import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addDays } from '../../../servers/kernel/dates.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { retailChain } from '../../../servers/retail_chain/index.js'
import {
  availableOf,
  daysBetween,
  isOpen,
  LIMITS,
  reducedPrice,
  roomOf,
  stockKey,
} from '../../../servers/retail_chain/rules.js'
import type { Article, Reservation, RetailView, Shipment, Stock } from '../../../servers/retail_chain/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'

const chainOf = (session: Session) => session.db as unknown as RetailView
const open = (seed: number) => Session.open(generateSeedState(retailChain, seed))
const articleOf = (session: Session, { article }: Stock): Article => chainOf(session).articles.get(article)!
const storeOpen = (session: Session, store: string) => isOpen(chainOf(session).stores.get(store)!, session.now())
const stock = (session: Session, fits: (row: Stock) => boolean) => chainOf(session).stocks.find(fits)!
const now = (session: Session, { stock: key }: Stock) => chainOf(session).stocks.get(key)!
const shipment = (session: Session, fits: (row: Shipment) => boolean) => chainOf(session).shipments.find(fits)!
const reservation = (session: Session, fits: (row: Reservation) => boolean) => chainOf(session).reservations.find(fits)!

/** Two stores that carry the same article, the first open with at least five to spare, the second with room. */
function pair(session: Session, fits: (from: Stock, to: Stock) => boolean = () => true): readonly [Stock, Stock] {
  for (const from of chainOf(session).stocks.list()) {
    if (availableOf(from) < 5 || !storeOpen(session, from.store)) continue
    const to = chainOf(session)
      .stocks.by('article', from.article)
      .find((row) => row.store !== from.store && roomOf(row) >= 5 && fits(from, row))
    if (to) return [from, to]
  }
  throw new Error('no such pair of stores')
}

const cityOf = (session: Session, { store }: Stock) => chainOf(session).stores.get(store)!.city
const transfer = (from: Stock, to: Stock, quantity: number) =>
  ['transfer_stock', { article: from.article, from_store: from.store, to_store: to.store, quantity }] as const
const reorder = (row: Stock, packs: number) =>
  ['reorder_stock', { article: row.article, store: row.store, packs }] as const
const reserve = (row: Stock, quantity: number, customer_name = 'Nils Unheard') =>
  ['reserve_article', { article: row.article, store: row.store, quantity, customer_name }] as const
const markDown = (row: Stock, percent: number) =>
  ['mark_down_article', { article: row.article, store: row.store, percent }] as const
const count = (row: Stock, counted: number) =>
  ['count_stock', { article: row.article, store: row.store, counted }] as const
const close = (row: Reservation, outcome: string) =>
  ['close_reservation', { reservation: row.reservation, outcome }] as const
const isOrdered = (session: Session, row: Stock) =>
  shipment(
    session,
    ({ article, to_store, from_store, status }) =>
      article === row.article && to_store === row.store && from_store === null && status === 'transit',
  ) !== undefined
const packsFit = (session: Session, row: Stock, packs: number) =>
  packs * articleOf(session, row).pack <= roomOf(row) &&
  packs * articleOf(session, row).pack <= articleOf(session, row).warehouse &&
  !isOrdered(session, row)
const fullPrice = (session: Session) =>
  stock(session, (row) => row.marked_down === null && articleOf(session, row).price >= 20)
const countable = ({ counted, on_hand, reserved }: Stock) =>
  counted !== TODAY && reserved === 0 && on_hand > 2 * LIMITS.countTolerance

checkEnvironmentContract(retailChain, {
  sampleFloor: 1,
  provoke: {
    unknown_store: () => ['show_store', { store: 'atlantis-harbour' }],
    unknown_article: () => ['check_stock', { article: 'kettle-7' }],
    unknown_shipment: () => ['receive_shipment', { shipment: 'shipment-7' }],
    unknown_reservation: () => ['close_reservation', { reservation: 'reservation-7', outcome: 'collected' }],
    not_carried: (s) => {
      const { store } = chainOf(s).stores.list()[0]!
      const { article } = chainOf(s).articles.find((row) => !chainOf(s).stocks.has(stockKey(store, row.article)))!
      return ['reorder_stock', { store, article, packs: 1 }]
    },
    store_closed: (s) => {
      const late = (row: Shipment) => row.status === 'transit' && row.due <= TODAY && !storeOpen(s, row.to_store)
      const waiting = shipment(s, late)
      if (waiting) return ['receive_shipment', { shipment: waiting.shipment }]
      const from = stock(s, (row) => !storeOpen(s, row.store) && availableOf(row) > 0)
      return transfer(
        from,
        stock(s, (row) => row.article === from.article && row !== from && roomOf(row) > 0),
        1,
      )
    },
    same_store: (s) => transfer(pair(s)[0], pair(s)[0], 1),
    not_enough_stock: (s) => {
      const kept = reservation(s, ({ status }) => status === 'open')
      const row = chainOf(s).stocks.get(stockKey(kept.store, kept.article))!
      const to = stock(s, ({ article, store }) => article === row.article && store !== row.store)
      return transfer(row, to, availableOf(row) + 1)
    },
    no_shelf_space: (s) => {
      const [from, to] = pair(s, (sender, receiver) => availableOf(sender) > roomOf(receiver))
      return transfer(from, to, roomOf(to) + 1)
    },
    warehouse_short: (s) => {
      const row = stock(s, (candidate) => {
        const { warehouse, pack } = articleOf(s, candidate)
        return warehouse < 10 * pack && !isOrdered(s, candidate)
      })
      return reorder(row, 10)
    },
    already_on_order: (s) => {
      const row = stock(s, (candidate) => packsFit(s, candidate, 2))
      succeed(s, ...reorder(row, 1))
      return reorder(row, 1)
    },
    still_in_transit: (s) => [
      'receive_shipment',
      { shipment: shipment(s, ({ status, due }) => status === 'transit' && due > TODAY).shipment },
    ],
    already_received: (s) => [
      'receive_shipment',
      { shipment: shipment(s, ({ status }) => status === 'received').shipment },
    ],
    too_many_reservations: (s) => {
      const rows = chainOf(s).stocks.list((row) => availableOf(row) > 0)
      for (let i = 0; i < LIMITS.reservations; i++) succeed(s, ...reserve(rows[i]!, 1))
      return reserve(rows[LIMITS.reservations]!, 1, 'NILS unheard')
    },
    reservation_closed: (s) =>
      close(
        reservation(s, ({ status }) => status === 'collected'),
        'cancelled',
      ),
    reservation_expired: (s) => {
      const stale = reservation(s, ({ status, until }) => status === 'open' && until < TODAY)
      return close(stale, 'collected')
    },
    below_cost: (s) => markDown(fullPrice(s), 70),
    not_a_markdown: (s) => {
      const row = stock(s, ({ marked_down }) => marked_down !== null && marked_down !== TODAY)
      return markDown(row, 5)
    },
    marked_down_today: (s) => {
      const row = fullPrice(s)
      succeed(s, ...markDown(row, 10))
      return markDown(row, 20)
    },
    below_reserved: (s) => {
      const row = stock(s, ({ reserved, counted }) => reserved > 0 && counted !== TODAY)
      return count(row, row.reserved - 1)
    },
    counted_today: (s) => {
      const row = stock(s, ({ counted }) => counted === TODAY)
      return count(row, row.on_hand)
    },
  },
})

test('what is sent to a store in the same city arrives today and counts there once it is received', () => {
  const session = open(2)
  const [from, to] = pair(session, (a, b) => cityOf(session, a) === cityOf(session, b) && storeOpen(session, b.store))
  const sent = succeed(session, ...transfer(from, to, 4))
  assert.is(sent.due, TODAY)
  assert.is(now(session, from).on_hand, from.on_hand - 4)
  assert.is(now(session, to).on_hand, to.on_hand)
  assert.is(now(session, to).incoming, to.incoming + 4)
  const received = succeed(session, 'receive_shipment', { shipment: sent.shipment })
  assert.is(received.on_hand, to.on_hand + 4)
  assert.is(now(session, to).incoming, to.incoming)
})

test('what is sent to another country cannot be received today, and takes up room all the same', () => {
  const session = open(3)
  const days = (a: Stock, b: Stock) => daysBetween(cityOf(session, a), cityOf(session, b))
  const [from, to] = pair(session, (a, b) => days(a, b) === 2)
  const sent = succeed(session, ...transfer(from, to, 5))
  assert.is(sent.due, addDays(TODAY, 2))
  assert.is(roomOf(now(session, to)), roomOf(to) - 5)
  const result = session.call('receive_shipment', { shipment: sent.shipment })
  assert.is(result.ok ? 'ok' : result.code, 'still_in_transit')
})

test('shipments take no day in a city, one in a country and two abroad', () => {
  assert.is(daysBetween('Lyon', 'Lyon'), 0)
  assert.is(daysBetween('Lyon', 'Paris'), 1)
  assert.is(daysBetween('Lyon', 'Rome'), 2)
})

test('a reorder takes whole packs out of the warehouse', () => {
  const session = open(4)
  const row = stock(session, (candidate) => packsFit(session, candidate, 2))
  const { pack, warehouse, title } = articleOf(session, row)
  const sent = succeed(session, ...reorder(row, 2))
  assert.is(sent.quantity, 2 * pack)
  assert.is(articleOf(session, row).warehouse, warehouse - 2 * pack)
  const { articles } = succeed(session, 'search_articles', { text: title })
  assert.ok((articles as Article[]).some((found) => found.warehouse === warehouse - 2 * pack))
})

test('a reservation takes pieces away from others, and keeps its price through a markdown', () => {
  const session = open(5)
  const row = stock(session, (candidate) => {
    const { price, cost } = articleOf(session, candidate)
    const cheaper = reducedPrice(price, 25)
    return (
      availableOf(candidate) >= 2 &&
      cheaper < candidate.price &&
      cheaper >= cost &&
      candidate.marked_down !== TODAY &&
      storeOpen(session, candidate.store)
    )
  })
  const kept = succeed(session, ...reserve(row, 2))
  assert.is(kept.available, availableOf(row) - 2)
  assert.is(kept.until, addDays(TODAY, LIMITS.reservationDays))
  const reduced = succeed(session, ...markDown(row, 25))
  assert.is(reduced.before, row.price)
  assert.ok((reduced.price as number) < row.price)
  const { takings } = chainOf(session).stores.get(row.store)!
  const closed = succeed(session, 'close_reservation', { reservation: kept.reservation, outcome: 'collected' })
  assert.is(closed.paid, 2 * row.price)
  assert.is(chainOf(session).stores.get(row.store)!.takings, takings + 2 * row.price)
  assert.is(now(session, row).on_hand, row.on_hand - 2)
  assert.is(now(session, row).reserved, row.reserved)
})

test('a cancelled reservation frees its pieces, even when it has expired', () => {
  const session = open(6)
  const stale = reservation(session, ({ status, until }) => status === 'open' && until < TODAY)
  const row = chainOf(session).stocks.get(stockKey(stale.store, stale.article))!
  const closed = succeed(session, ...close(stale, 'cancelled'))
  assert.is(closed.paid, 0)
  assert.is(availableOf(now(session, row)), availableOf(row) + stale.quantity)
  assert.is(now(session, row).on_hand, row.on_hand)
})

test('a count far from the books changes them only when a second one confirms it', () => {
  const session = open(7)
  const row = stock(session, countable)
  const counted = row.on_hand - LIMITS.countTolerance - 1
  const doubted = succeed(session, ...count(row, counted))
  assert.is(doubted.status, 'recount')
  assert.is(doubted.on_hand, row.on_hand)
  assert.is(now(session, row).on_hand, row.on_hand)
  const other = session.fork()
  assert.is(succeed(other, ...count(row, counted - 1)).status, 'recount')
  const settled = succeed(session, ...count(row, counted))
  assert.is(settled.status, 'corrected')
  assert.is(now(session, row).on_hand, counted)
  assert.is(now(session, row).missing, row.missing + LIMITS.countTolerance + 1)
})

test('a count near the books is believed at once', () => {
  const session = open(8)
  const row = stock(session, countable)
  const stated = succeed(session.fork(), ...count(row, row.on_hand))
  assert.is(stated.status, 'confirmed')
  assert.is(succeed(session, ...count(row, row.on_hand - LIMITS.countTolerance)).status, 'corrected')
})

test('stores keep their hours and their day off', () => {
  const session = open(1)
  const store = { ...chainOf(session).stores.list()[0]!, opens: '09:00', closes: '18:00', closed_on: 'monday' } as const
  assert.not.ok(isOpen(store, '2026-03-02T12:00:00Z'))
  assert.ok(isOpen(store, '2026-03-03T09:00:00Z'))
  assert.not.ok(isOpen(store, '2026-03-03T08:59:00Z'))
  assert.not.ok(isOpen(store, '2026-03-03T18:00:00Z'))
  for (let seed = 1; seed <= 10; seed++) {
    const { stores } = chainOf(open(seed))
    const shut = stores.count((row) => !isOpen(row, '2026-03-02T09:00:00Z'))
    assert.is(shut, 2, `seed ${seed}`)
  }
})

test('stock is looked up without what is reserved, in all cities or in one', () => {
  const session = open(9)
  const kept = reservation(session, ({ status }) => status === 'open')
  const everywhere = succeed(session, 'check_stock', { article: kept.article })
  const having = chainOf(session).stocks.list((row) => row.article === kept.article && availableOf(row) > 0)
  assert.is(everywhere.found, having.length)
  const [best] = everywhere.stores as { store: string; available: number }[]
  assert.is(best!.available, Math.max(...having.map(availableOf)))
  const { city } = chainOf(session).stores.get(best!.store)!
  const here = succeed(session, 'check_stock', { article: kept.article, city: city.toUpperCase() })
  assert.is(here.found, having.filter((row) => cityOf(session, row) === city).length)
  assert.equal(succeed(session, 'check_stock', { article: kept.article, city: 'Atlantis' }).stores, [])
})

test('a store shows what runs low until more of it is on its way', () => {
  const session = open(10)
  const row = stock(
    session,
    (candidate) =>
      candidate.on_hand + candidate.incoming <= candidate.reorder_point &&
      packsFit(session, candidate, Math.ceil((candidate.reorder_point + 1) / articleOf(session, candidate).pack)),
  )
  const before = succeed(session, 'show_store', { store: row.store })
  succeed(session, ...reorder(row, Math.ceil((row.reorder_point + 1) / articleOf(session, row).pack)))
  const after = succeed(session, 'show_store', { store: row.store })
  assert.is(after.low_articles, (before.low_articles as number) - 1)
  assert.is(after.open_shipments, (before.open_shipments as number) + 1)
})

test.run()
