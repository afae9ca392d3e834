import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const DEPARTMENTS = ['garden', 'kitchen', 'tools', 'toys', 'lighting'] as const
export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
export const OUTCOMES = ['collected', 'cancelled'] as const

/** Whole currency units; the chain has one currency. */
export const money = z.int().min(0).max(100_000)
export const pieces = z.int().min(0)
const date = z.iso.date()
const time = z.string().regex(/^\d{2}:\d{2}$/)

const store = z.object({
  store: z.string(),
  name: z.string(),
  city: z.string(),
  address: z.string(),
  /** In UTC, as all times of the chain. */
  opens: time,
  closes: time,
  closed_on: z.enum(WEEKDAYS),
  /** What has been paid at its pick-up counter. */
  takings: money,
})

const article = z.object({
  article: z.string(),
  title: z.string(),
  department: z.enum(DEPARTMENTS),
  /** List price; a store may charge less. */
  price: money,
  /** No store may charge less. */
  cost: money,
  /** Pieces in a pack, as the warehouse hands them out. */
  pack: z.int().min(1),
  /** Pieces in the warehouse. */
  warehouse: pieces,
  /** Title in lower case: what a search looks through. */
  words: z.string(),
})

/** What one store has of one article; there is a row for all that the store carries. */
const stock = z.object({
  stock: z.string(),
  store: z.string(),
  article: z.string(),
  on_hand: pieces,
  /** Of those on hand, kept for customers. */
  reserved: pieces,
  /** On their way to the store. */
  incoming: pieces,
  /** Most pieces that the store has room for. */
  capacity: pieces,
  /** At this number of pieces, those on their way included, the store runs low. */
  reorder_point: pieces,
  price: money,
  marked_down: date.nullable(),
  /** Pieces handed to customers. */
  sold: pieces,
  /** Pieces that counts have found missing; negative when they found more than the books said. */
  missing: z.int(),
  /** Day of the last count that was settled. */
  counted: date.nullable(),
  /** A count too far from the books to be believed before a second one confirms it. */
  doubted_count: pieces.nullable(),
})

const shipment = z.object({
  shipment: z.string(),
  article: z.string(),
  title: z.string(),
  quantity: z.int().min(1),
  /** Null: from the warehouse. */
  from_store: z.string().nullable(),
  to_store: z.string(),
  /** Day of arrival. */
  due: date,
  status: z.enum(['transit', 'received']),
})

const reservation = z.object({
  reservation: z.string(),
  article: z.string(),
  store: z.string(),
  customer_name: z.string(),
  quantity: z.int().min(1),
  /** Per piece, as it was when the article was reserved. */
  price: money,
  /** Last day for picking it up. */
  until: date,
  status: z.enum(['open', ...OUTCOMES]),
})

/** The only row: where the warehouse is. */
const warehouse = z.object({ warehouse: z.literal('warehouse'), city: z.string() })

export const tables = {
  stores: { row: store, key: 'store', missing: 'unknown_store' },
  articles: { row: article, key: 'article', missing: 'unknown_article' },
  stocks: { row: stock, key: 'stock' },
  shipments: { row: shipment, key: 'shipment', missing: 'unknown_shipment' },
  reservations: { row: reservation, key: 'reservation', missing: 'unknown_reservation' },
  warehouses: { row: warehouse, key: 'warehouse' },
} as const

export const failures = {
  unknown_store: 'The chain has no such store.',
  unknown_article: 'The chain has no such article.',
  unknown_shipment: 'There is no such shipment.',
  unknown_reservation: 'There is no such reservation.',
  not_carried: 'The store does not carry this article.',
  store_closed: 'The store is closed now.',
  same_store: 'Both stores are the same.',
  not_enough_stock: 'The store does not have that many pieces that are not reserved.',
  no_shelf_space: 'The store has no room for that many pieces.',
  warehouse_short: 'The warehouse does not have that many packs.',
  already_on_order: 'The store already waits for this article from the warehouse.',
  still_in_transit: 'The shipment has not arrived yet.',
  already_received: 'The shipment was received before.',
  too_many_reservations: 'The customer has as many open reservations as one may have.',
  reservation_closed: 'The reservation was closed before.',
  reservation_expired: 'The reservation has expired and can only be cancelled.',
  below_cost: 'The article would cost less than the chain paid for it.',
  not_a_markdown: 'The article costs no more than that already.',
  marked_down_today: 'The store has marked this article down today; one markdown a day is allowed.',
  below_reserved: 'That is less than is reserved for customers.',
  counted_today: 'The count of this article was settled today.',
} as const

export type RetailTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type RetailView = DbView<RetailTables>
export type Store = RowOf<RetailTables['stores']>
export type Article = RowOf<RetailTables['articles']>
export type Stock = RowOf<RetailTables['stocks']>
export type Shipment = RowOf<RetailTables['shipments']>
export type Reservation = RowOf<RetailTables['reservations']>

export const tool = toolMaker(tables, failures)
