import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { shoppingInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedShopping } from './seed.js'
import { afterSalesTools } from './tools/after-sales.js'
import { cartTools } from './tools/cart.js'
import { catalogueTools } from './tools/catalogue.js'
import { couponTools } from './tools/coupons.js'
import { deliveryTools } from './tools/delivery.js'
import { orderTools } from './tools/orders.js'
import { paymentTools } from './tools/payment.js'
import { wishlistTools } from './tools/wishlist.js'

/**
 * One customer's online shop: a catalogue with variants and stock, a cart that lasts, coupons and orders. The customer
 * can cancel an order for half an hour and send it back for a month.
 */
export const shopping = defineEnvironment({
  name: 'shopping',
  title: 'Shopping',
  description:
    'Catalogue, cart, wishlist, coupons, delivery, payment, orders, returns and reviews of one shop customer.',
  tables,
  entities: {
    brand: { noun: 'brand', table: 'brands', label: 'name' },
    product: { noun: 'product', table: 'products', label: 'title', compared: { price: 'lowest' } },
    // What somebody has an opinion of.
    bought_product: { noun: 'product', table: 'products', label: 'title' },
    variant: { noun: 'version', table: 'variants', label: 'name', compared: { price: 'lowest' } },
    cart_item: { noun: 'article', table: 'cart_lines', label: 'name', compared: { price: 'lowest' } },
    coupon: { noun: 'coupon', table: 'coupons', label: 'name', sayable: true },
    delivery_address: { noun: 'address', table: 'delivery_addresses', label: 'name' },
    payment_method: { noun: 'payment method', table: 'payment_methods', label: 'name' },
    order: { noun: 'order', table: 'orders', label: 'title', compared: { placed: 'either', total: 'either' } },
    item: { noun: 'item', table: 'order_items', label: 'name' },
  },
  failures,
  tools: [
    ...catalogueTools,
    ...cartTools,
    ...wishlistTools,
    ...couponTools,
    ...deliveryTools,
    ...paymentTools,
    ...orderTools,
    ...afterSalesTools,
  ],
  invariants: shoppingInvariants,
  domainRules,
  seed: seedShopping,
})
