import { z } from 'zod'
import {
  type Db,
  type DbView,
  type ObstacleOf,
  type RowOf,
  type ToolContext,
  toolMaker,
} from '../kernel/define-environment.js'

export const CATEGORIES = ['clothing', 'books', 'kitchen', 'sports', 'electronics'] as const
export const SHIPPINGS = ['standard', 'express', 'courier'] as const
export const ORDER_STATUSES = ['placed', 'shipped', 'delivered', 'cancelled'] as const

/** Whole currency units; the shop has one currency. */
export const money = z.int().min(0).max(100_000)
export const quantity = z.int().min(1).max(9)
const date = z.iso.date()

const brand = z.object({ brand: z.string(), name: z.string() })

const product = z.object({
  product: z.string(),
  title: z.string(),
  brand: z.string(),
  category: z.enum(CATEGORIES),
  /** Price of its cheapest variant. */
  price: money,
  /** Too large for express and courier. */
  bulky: z.boolean(),
  returnable: z.boolean(),
  /** Sum of the stars of all reviews. */
  stars: z.int().min(0),
  reviews: z.int().min(0),
  /** Title and brand in lower case: what a search looks through. */
  words: z.string(),
})

const variant = z.object({
  variant: z.string(),
  product: z.string(),
  /** Title and option: `Linen Shirt in blue`. */
  name: z.string(),
  price: money,
  /** What can still be sold. */
  stock: z.int().min(0),
})

const cartLine = z.object({ variant: z.string(), quantity: z.int().min(1) })
const wish = z.object({ variant: z.string() })

/** The only row: the customer whose session it is. */
const customer = z.object({
  customer: z.literal('me'),
  points: z.int().min(0),
  /** Points of orders that are not delivered yet; they cannot be spent. */
  pending_points: z.int().min(0),
  /** The coupon on the cart. */
  coupon: z.string().nullable(),
  /** Where the shop has its warehouse, and couriers. */
  shop_city: z.string(),
})

const coupon = z.object({
  coupon: z.string(),
  name: z.string(),
  percent: z.int().min(1).max(50),
  /** Null: valid for everything. */
  category: z.enum(CATEGORIES).nullable(),
  /** Least value of the articles it is valid for. */
  minimum: money,
  /** The last day. */
  expires: date,
  used: z.boolean(),
})

const deliveryAddress = z.object({
  delivery_address: z.string(),
  name: z.string(),
  address: z.string(),
  /** The city of `address`. */
  city: z.string(),
})

const paymentMethod = z.object({
  payment_method: z.string(),
  name: z.string(),
  kind: z.enum(['card', 'invoice', 'credit']),
  /** What can be charged to it now. */
  available: money,
  status: z.enum(['active', 'expired']),
})

const giftCard = z.object({ code: z.string(), amount: money, expires: date, redeemed: z.boolean() })

const order = z.object({
  order: z.string(),
  /** The first article and how many more: `Linen Shirt and 2 more`. */
  title: z.string(),
  placed: z.iso.datetime(),
  status: z.enum(ORDER_STATUSES),
  /** Last moment at which it can be cancelled. */
  cancel_until: z.iso.datetime(),
  /** Day of delivery, expected or actual. */
  arrives: date,
  /** Last day for returns; null until it is delivered. */
  return_until: date.nullable(),
  delivery_address: z.string(),
  shipping: z.enum(SHIPPINGS),
  payment_method: z.string(),
  coupon: z.string().nullable(),
  points_used: z.int().min(0),
  points_earned: z.int().min(0),
  shipping_cost: money,
  /** Articles less discounts, plus shipping. */
  total: money,
  refunded: money,
})

const orderItem = z.object({
  item: z.string(),
  order: z.string(),
  variant: z.string(),
  product: z.string(),
  name: z.string(),
  quantity: z.int().min(1),
  /** What was paid for it after its share of all discounts. */
  paid: money,
  returned: z.boolean(),
  /** Points taken back when it was returned. */
  points_back: z.int().min(0),
})

const review = z.object({ product: z.string(), stars: z.int().min(1).max(5), text: z.string(), written: date })

export const tables = {
  brands: { row: brand, key: 'brand', missing: 'unknown_brand' },
  products: { row: product, key: 'product', missing: 'unknown_product' },
  variants: { row: variant, key: 'variant', missing: 'unknown_variant' },
  cart_lines: { row: cartLine, key: 'variant' },
  wishes: { row: wish, key: 'variant' },
  customers: { row: customer, key: 'customer' },
  coupons: { row: coupon, key: 'coupon', missing: 'unknown_coupon' },
  delivery_addresses: { row: deliveryAddress, key: 'delivery_address', missing: 'unknown_delivery_address' },
  payment_methods: { row: paymentMethod, key: 'payment_method', missing: 'unknown_payment_method' },
  gift_cards: { row: giftCard, key: 'code' },
  orders: { row: order, key: 'order', missing: 'unknown_order' },
  order_items: { row: orderItem, key: 'item', missing: 'unknown_item' },
  reviews: { row: review, key: 'product' },
} as const

export const failures = {
  unknown_brand: 'The shop has no such brand.',
  unknown_product: 'The shop has no such product.',
  unknown_variant: 'The shop has no such variant of a product.',
  unknown_coupon: 'You have no such coupon.',
  unknown_delivery_address: 'You have saved no such delivery address.',
  unknown_payment_method: 'You have no such payment method.',
  unknown_gift_card: 'There is no gift card with this code.',
  unknown_order: 'You have no such order.',
  unknown_item: 'You have ordered no such item.',
  out_of_stock: 'It is sold out.',
  not_enough_stock: 'There are fewer in stock.',
  quantity_limit: 'That is more of one article than a customer may order.',
  cart_full: 'The cart holds as many different articles as it can.',
  cart_empty: 'The cart is empty.',
  not_in_cart: 'It is not in the cart.',
  already_in_cart: 'It is in the cart already.',
  already_on_wishlist: 'It is on the wishlist already.',
  wishlist_full: 'The wishlist is full.',
  coupon_expired: 'The coupon has expired.',
  coupon_used: 'The coupon was used for an earlier order.',
  coupon_not_applicable: 'Nothing in the cart is of the category that the coupon is for.',
  below_coupon_minimum: 'The articles the coupon is for are worth less than its minimum.',
  coupon_already_applied: 'Only one coupon can be used per order: remove the one on the cart first.',
  no_coupon_applied: 'There is no coupon on the cart.',
  address_not_found: 'There is no such address; write it like 12 Rua do Moinho, Lisbon.',
  address_name_taken: 'Another delivery address has this name.',
  too_many_addresses: 'No more delivery addresses can be saved.',
  shipping_unavailable: 'This kind of shipping is not possible for this order.',
  payment_method_expired: 'The payment method has expired.',
  payment_declined: 'The payment method does not cover the total.',
  not_enough_points: 'You do not have that many loyalty points.',
  too_many_points: 'Points can pay for at most half of the articles.',
  gift_card_redeemed: 'The gift card was redeemed before.',
  gift_card_expired: 'The gift card has expired.',
  not_cancellable: 'Only orders that are placed and not shipped can be cancelled.',
  cancel_window_over: 'The time for cancelling the order is over.',
  not_delivered: 'It has not been delivered to you.',
  return_window_over: 'The time for returning articles of the order is over.',
  not_returnable: 'Products on final sale cannot be returned.',
  already_returned: 'It was returned before.',
  already_reviewed: 'You have reviewed this product before.',
} as const

export type ShoppingTables = typeof tables
export type FailureCode = keyof typeof failures
export type Context = ToolContext<typeof tables, FailureCode>
export type Obstacle = ObstacleOf<typeof failures>
export type ShoppingDb = Db<ShoppingTables>
export type ShoppingView = DbView<ShoppingTables>
export type Brand = RowOf<ShoppingTables['brands']>
export type Product = RowOf<ShoppingTables['products']>
export type Variant = RowOf<ShoppingTables['variants']>
export type Customer = RowOf<ShoppingTables['customers']>
export type Coupon = RowOf<ShoppingTables['coupons']>
export type DeliveryAddress = RowOf<ShoppingTables['delivery_addresses']>
export type PaymentMethod = RowOf<ShoppingTables['payment_methods']>
export type GiftCard = RowOf<ShoppingTables['gift_cards']>
export type Order = RowOf<ShoppingTables['orders']>
export type OrderItem = RowOf<ShoppingTables['order_items']>
export type Review = RowOf<ShoppingTables['reviews']>
export type Category = (typeof CATEGORIES)[number]
export type Shipping = (typeof SHIPPINGS)[number]

export const tool = toolMaker(tables, failures)
