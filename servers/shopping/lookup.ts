import type { Obstacle } from './rules.js'
import type {
  Coupon,
  DeliveryAddress,
  FailureCode,
  Order,
  PaymentMethod,
  Product,
  ShoppingView,
  Variant,
} from './schema.js'

interface Reader {
  readonly db: ShoppingView
  fail(code: FailureCode, detail?: string): never
}

/** Entries that a list or search shows at most. */
export const SHOWN = 5

export const productOf = ({ db, fail }: Reader, key: string): Product =>
  db.products.get(key) ?? fail('unknown_product', `There is no product ${key}.`)

export const variantOf = ({ db, fail }: Reader, key: string): Variant =>
  db.variants.get(key) ?? fail('unknown_variant', `There is no variant ${key}.`)

export const couponOf = ({ db, fail }: Reader, key: string): Coupon =>
  db.coupons.get(key) ?? fail('unknown_coupon', `You have no coupon ${key}.`)

export const deliveryAddressOf = ({ db, fail }: Reader, key: string): DeliveryAddress =>
  db.delivery_addresses.get(key) ?? fail('unknown_delivery_address', `You have saved no address ${key}.`)

export const paymentMethodOf = ({ db, fail }: Reader, key: string): PaymentMethod =>
  db.payment_methods.get(key) ?? fail('unknown_payment_method', `You have no payment method ${key}.`)

export const orderOf = ({ db, fail }: Reader, key: string): Order =>
  db.orders.get(key) ?? fail('unknown_order', `There is no ${key}.`)

/** Ends the call with a failure if something stands against it. */
export function unless({ fail }: Reader, obstacle: Obstacle | undefined): void {
  if (obstacle) fail(obstacle.code, obstacle.detail)
}
