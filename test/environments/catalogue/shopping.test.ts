import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { shopping } from '../../../servers/shopping/index.js'
import {
  allocate,
  billOf,
  customerOf,
  LIMITS,
  type Line,
  mostPoints,
  shippingOptions,
} from '../../../servers/shopping/rules.js'
import type {
  Coupon,
  Order,
  OrderItem,
  PaymentMethod,
  Product,
  ShoppingView,
  Variant,
} from '../../../servers/shopping/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'

const TODAY = '2026-03-02'

const shopOf = (session: Session) => session.db as unknown as ShoppingView
const open = (seed: number) => Session.open(generateSeedState(shopping, seed))
const variant = (session: Session, fits: (row: Variant) => boolean) => shopOf(session).variants.find(fits)!
const product = (session: Session, fits: (row: Product) => boolean) => shopOf(session).products.find(fits)!
const coupon = (session: Session, fits: (row: Coupon) => boolean) => shopOf(session).coupons.find(fits)!
const order = (session: Session, fits: (row: Order) => boolean) => shopOf(session).orders.find(fits)!
const method = (session: Session, fits: (row: PaymentMethod) => boolean) => shopOf(session).payment_methods.find(fits)!
const productOf = (session: Session, { product: key }: { product: string }) => shopOf(session).products.get(key)!

/** An item of an order and its order, which fit. */
function item(session: Session, fits: (item: OrderItem, order: Order) => boolean): OrderItem {
  return shopOf(session).order_items.find((row) => fits(row, shopOf(session).orders.get(row.order)!))!
}

function emptyCart(session: Session): void {
  for (const { variant } of shopOf(session).cart_lines.list()) succeed(session, 'remove_from_cart', { variant })
}

/** A cart with exactly one variant: the first that fits, is cheap, goes by any shipping and is in good supply. */
function fillCart(session: Session, quantity = 2, fits: (row: Variant) => boolean = () => true): Variant {
  emptyCart(session)
  const row = variant(
    session,
    (candidate) =>
      candidate.stock >= LIMITS.perVariant &&
      candidate.price <= 60 &&
      !productOf(session, candidate).bulky &&
      fits(candidate),
  )
  succeed(session, 'add_to_cart', { variant: row.variant, quantity })
  return row
}

const richCard = (session: Session) => method(session, (row) => row.status === 'active' && row.available >= 400)
const nearby = (session: Session) =>
  shopOf(session).delivery_addresses.find(({ city }) => city === customerOf(shopOf(session)).shop_city)!
const overseas = (session: Session) => {
  const { shop_city } = customerOf(shopOf(session))
  return shopOf(session).delivery_addresses.find(({ city }) => shippingOptions(shop_city, city, [], 0)[0]!.cost === 8)!
}
const checkout = (session: Session, more: Record<string, unknown> = {}) =>
  [
    'place_order',
    {
      delivery_address: nearby(session).delivery_address,
      payment_method: richCard(session).payment_method,
      shipping: 'standard',
      ...more,
    },
  ] as const
const spare = (session: Session, count: number): Variant[] =>
  shopOf(session)
    .variants.list(
      ({ variant, stock }) =>
        stock > 0 && !shopOf(session).wishes.has(variant) && !shopOf(session).cart_lines.has(variant),
    )
    .slice(0, count)
const isUsable = ({ used, expires }: Coupon) => !used && expires >= TODAY

checkEnvironmentContract(shopping, {
  sampleFloor: 1,
  provoke: {
    unknown_brand: () => ['browse_products', { brand: 'noname' }],
    unknown_product: () => ['show_product', { product: 'shirt-7' }],
    unknown_variant: () => ['add_to_cart', { variant: 'shirt-7-blue', quantity: 1 }],
    unknown_coupon: () => ['apply_coupon', { coupon: 'never-99' }],
    unknown_delivery_address: () => ['list_shipping_options', { delivery_address: 'moon-base' }],
    unknown_payment_method: (s) => checkout(s, { payment_method: 'visa-7' }),
    unknown_gift_card: () => ['redeem_gift_card', { code: 'maple-maple-7' }],
    unknown_order: () => ['show_order', { order: 'order-7' }],
    unknown_item: () => ['return_item', { item: 'item-7' }],
    out_of_stock: (s) => ['add_to_cart', { variant: variant(s, ({ stock }) => stock === 0).variant, quantity: 1 }],
    not_enough_stock: (s) => {
      const row = variant(s, ({ stock }) => stock > 0 && stock < LIMITS.perVariant)
      return ['add_to_cart', { variant: row.variant, quantity: row.stock + 1 }]
    },
    quantity_limit: (s) => ['add_to_cart', { variant: fillCart(s, LIMITS.perVariant).variant, quantity: 1 }],
    cart_full: (s) => {
      emptyCart(s)
      const rows = spare(s, LIMITS.cartLines + 1)
      for (const row of rows.slice(1)) succeed(s, 'add_to_cart', { variant: row.variant, quantity: 1 })
      return ['add_to_cart', { variant: rows[0]!.variant, quantity: 1 }]
    },
    cart_empty: (s) => {
      emptyCart(s)
      return checkout(s)
    },
    not_in_cart: (s) => ['remove_from_cart', { variant: spare(s, 1)[0]!.variant }],
    already_in_cart: (s) => ['add_to_wishlist', { variant: fillCart(s).variant }],
    already_on_wishlist: (s) => ['add_to_wishlist', { variant: shopOf(s).wishes.list()[0]!.variant }],
    wishlist_full: (s) => {
      const rows = spare(s, LIMITS.wishes + 1)
      for (let i = shopOf(s).wishes.count(); i < LIMITS.wishes; i++)
        succeed(s, 'add_to_wishlist', { variant: rows[i]!.variant })
      return ['add_to_wishlist', { variant: rows[LIMITS.wishes]!.variant }]
    },
    coupon_expired: (s) => {
      fillCart(s)
      return ['apply_coupon', { coupon: coupon(s, ({ expires }) => expires < TODAY).coupon }]
    },
    coupon_used: (s) => {
      fillCart(s)
      return ['apply_coupon', { coupon: coupon(s, ({ used }) => used).coupon }]
    },
    coupon_not_applicable: (s) => {
      const row = fillCart(s)
      const other = (candidate: Coupon) =>
        candidate.category !== null && candidate.category !== productOf(s, row).category
      return ['apply_coupon', { coupon: coupon(s, (candidate) => isUsable(candidate) && other(candidate)).coupon }]
    },
    below_coupon_minimum: (s) => {
      const row = coupon(s, (candidate) => isUsable(candidate) && candidate.minimum > 20)
      fillCart(
        s,
        1,
        (candidate) =>
          candidate.price < row.minimum && productOf(s, candidate).category === (row.category ?? 'clothing'),
      )
      return ['apply_coupon', { coupon: row.coupon }]
    },
    coupon_already_applied: (s) => {
      fillCart(s, LIMITS.perVariant)
      const [first, second] = shopOf(s).coupons.list((row) => isUsable(row) && row.category === null)
      succeed(s, 'apply_coupon', { coupon: first!.coupon })
      return ['apply_coupon', { coupon: second!.coupon }]
    },
    no_coupon_applied: () => ['remove_coupon', {}],
    address_not_found: () => ['add_delivery_address', { name: 'Lair', address: '12 Mill Lane, Atlantis' }],
    address_name_taken: (s) => [
      'add_delivery_address',
      { name: nearby(s).name.toUpperCase(), address: '12 Rua do Moinho, Lisbon' },
    ],
    too_many_addresses: (s) => {
      const names = ['Lair', 'Attic', 'Cellar'].slice(0, LIMITS.addresses - shopOf(s).delivery_addresses.count())
      for (const name of names) succeed(s, 'add_delivery_address', { name, address: '12 Rua do Moinho, Lisbon' })
      return ['add_delivery_address', { name: 'Shed', address: '12 Rua do Moinho, Lisbon' }]
    },
    shipping_unavailable: (s) => {
      fillCart(s)
      return checkout(s, { delivery_address: overseas(s).delivery_address, shipping: 'courier' })
    },
    payment_method_expired: (s) => {
      fillCart(s)
      return checkout(s, { payment_method: method(s, ({ status }) => status === 'expired').payment_method })
    },
    payment_declined: (s) => {
      fillCart(s, LIMITS.perVariant, ({ price }) => price * LIMITS.perVariant > 120)
      return checkout(s, { payment_method: method(s, ({ kind }) => kind === 'credit').payment_method })
    },
    not_enough_points: (s) => {
      fillCart(s)
      return checkout(s, { points: 2000 })
    },
    too_many_points: (s) => {
      const { points } = customerOf(shopOf(s))
      assert.ok(points >= LIMITS.pointStep)
      fillCart(s, 1, ({ price }) => price < 2 * LIMITS.stepValue)
      return checkout(s, { points: LIMITS.pointStep })
    },
    gift_card_redeemed: (s) => ['redeem_gift_card', { code: shopOf(s).gift_cards.find((row) => row.redeemed)!.code }],
    gift_card_expired: (s) => [
      'redeem_gift_card',
      { code: shopOf(s).gift_cards.find(({ expires }) => expires < TODAY)!.code },
    ],
    not_cancellable: (s) => ['cancel_order', { order: order(s, ({ status }) => status === 'shipped').order }],
    cancel_window_over: (s) => {
      const late = (row: Order) => row.status === 'placed' && row.cancel_until < s.now()
      return ['cancel_order', { order: order(s, late).order }]
    },
    not_delivered: (s) => ['return_item', { item: item(s, (_, { status }) => status === 'shipped').item }],
    return_window_over: (s) => {
      const late = item(
        s,
        (row, { return_until }) =>
          return_until !== null && return_until < TODAY && !row.returned && productOf(s, row).returnable,
      )
      return ['return_item', { item: late.item }]
    },
    not_returnable: (s) => {
      const final = item(s, (row, { status }) => status === 'delivered' && !productOf(s, row).returnable)
      return ['return_item', { item: final.item }]
    },
    already_returned: (s) => ['return_item', { item: item(s, ({ returned }) => returned).item }],
    already_reviewed: (s) => {
      const { product: key } = shopOf(s).reviews.list()[0]!
      return ['write_review', { product: key, stars: 1, text: 'changed my mind' }]
    },
  },
})

test('an order takes the articles from stock and the total from the card, and cancelling it gives all back', () => {
  const session = open(2)
  const row = fillCart(session, 3)
  const card = richCard(session)
  const points = customerOf(shopOf(session))
  const before = session.fork()
  const placed = succeed(session, ...checkout(session))
  assert.is(shopOf(session).variants.get(row.variant)!.stock, row.stock - 3)
  assert.is(
    method(session, (m) => m.payment_method === card.payment_method).available,
    card.available - (placed.total as number),
  )
  assert.is(placed.points_earned, 3 * row.price)
  assert.is(customerOf(shopOf(session)).pending_points, points.pending_points + 3 * row.price)
  assert.equal(succeed(session, 'view_cart', {}).items, [])
  const back = succeed(session, 'cancel_order', { order: placed.order })
  assert.is(back.refund, placed.total)
  assert.is(back.refunded_to, card.name)
  for (const table of ['variants', 'payment_methods', 'customers'] as const)
    assert.equal(shopOf(session)[table].list(), shopOf(before)[table].list())
})

test('an order can be cancelled for thirty minutes and no longer', () => {
  const session = open(2)
  fillCart(session)
  const { order: key } = succeed(session, ...checkout(session))
  const { placed, cancel_until } = order(session, (row) => row.order === key)
  assert.is(Date.parse(cancel_until) - Date.parse(placed), LIMITS.cancelMinutes * 60_000)
  const wish = spare(session, 1)[0]!.variant
  const passMinute = () =>
    shopOf(session).cart_lines.has(wish)
      ? succeed(session, 'remove_from_cart', { variant: wish })
      : succeed(session, 'add_to_cart', { variant: wish, quantity: 1 })
  while (session.now() < cancel_until) passMinute()
  assert.ok(session.fork().call('cancel_order', { order: key }).ok)
  passMinute()
  const result = session.call('cancel_order', { order: key })
  assert.is(result.ok ? 'ok' : result.code, 'cancel_window_over')
})

test('a coupon leaves the cart with the articles it needs, and can be used for another order after a cancellation', () => {
  const session = open(3)
  const good = coupon(session, (row) => isUsable(row) && row.category === null)
  const row = fillCart(
    session,
    LIMITS.perVariant,
    ({ price }) => price * LIMITS.perVariant >= good.minimum && price >= 10,
  )
  const applied = succeed(session, 'apply_coupon', { coupon: good.coupon })
  assert.is(applied.discount, Math.floor((row.price * LIMITS.perVariant * good.percent) / 100))
  const removed = succeed(session.fork(), 'remove_from_cart', { variant: row.variant })
  assert.is(removed.coupon_removed, good.coupon)
  const placed = succeed(session, ...checkout(session))
  assert.ok(shopOf(session).coupons.get(good.coupon)!.used)
  succeed(session, 'cancel_order', { order: placed.order })
  fillCart(session, LIMITS.perVariant, ({ variant: key }) => key === row.variant)
  assert.equal(succeed(session, 'apply_coupon', { coupon: good.coupon }), applied)
})

test('a returned item is refunded for what was paid, its pieces are back in stock and its points are gone', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const session = open(seed)
    const sent = item(
      session,
      (row, { status, return_until }) =>
        status === 'delivered' && return_until! >= TODAY && !row.returned && productOf(session, row).returnable,
    )
    if (!sent) continue
    const { stock } = shopOf(session).variants.get(sent.variant)!
    const { points } = customerOf(shopOf(session))
    const from = shopOf(session).orders.get(sent.order)!.payment_method
    const { status, name } = method(session, (row) => row.payment_method === from)
    const stated = succeed(session, 'return_item', { item: sent.item })
    assert.is(stated.refund, sent.paid)
    assert.is(stated.refunded_to, status === 'expired' ? 'Store Credit' : name)
    assert.is(stated.points, Math.max(0, points - sent.paid))
    assert.is(shopOf(session).variants.get(sent.variant)!.stock, stock + sent.quantity)
    const shown = succeed(session, 'show_order', { order: sent.order }).items as { item: string; returned?: boolean }[]
    assert.is(shown.find((row) => row.item === sent.item)!.returned, true)
  }
})

test('putting a wish into the cart takes it off the wishlist', () => {
  const session = open(4)
  emptyCart(session)
  const wish = shopOf(session).wishes.find(({ variant: key }) => shopOf(session).variants.get(key)!.stock > 0)!
  succeed(session, 'add_to_cart', { variant: wish.variant, quantity: 1 })
  const listed = succeed(session, 'view_wishlist', {}).items as { variant: string }[]
  assert.not.ok(listed.some((row) => row.variant === wish.variant))
})

test('what is in the cart can still be sold out at checkout', () => {
  const seed = Array.from({ length: 60 }, (_, i) => i + 1).find((number) => {
    const session = open(number)
    return shopOf(session).cart_lines.find((row) => row.quantity > shopOf(session).variants.get(row.variant)!.stock)
  })!
  const result = open(seed).call(...checkout(open(seed)))
  assert.is(result.ok ? 'ok' : result.code, 'not_enough_stock')
})

test('points pay for at most half of the articles and come back with a cancelled order', () => {
  const seed = Array.from({ length: 60 }, (_, i) => i + 1).find((n) => customerOf(shopOf(open(n))).points >= 300)!
  const session = open(seed)
  const row = fillCart(session, 3, ({ price }) => price >= 12 && price <= 40)
  const { points } = customerOf(shopOf(session))
  const spent = Math.min(200, mostPoints(3 * row.price))
  const whole = session.fork()
  const full = succeed(whole, ...checkout(whole)).total as number
  const placed = succeed(session, ...checkout(session, { points: spent }))
  assert.is(placed.total, full - (spent / LIMITS.pointStep) * LIMITS.stepValue)
  assert.is(customerOf(shopOf(session)).points, points - spent)
  succeed(session, 'cancel_order', { order: placed.order })
  assert.is(customerOf(shopOf(session)).points, points)
})

test('a gift card adds to the store credit once, with its code in any case', () => {
  const session = open(5)
  const card = shopOf(session).gift_cards.find((row) => !row.redeemed && row.expires > TODAY)!
  const { available } = method(session, ({ kind }) => kind === 'credit')
  const stated = succeed(session, 'redeem_gift_card', { code: card.code.toUpperCase() })
  assert.is(stated.available, available + card.amount)
  assert.not.ok(session.call('redeem_gift_card', { code: card.code }).ok)
})

test('bulky articles go by standard shipping, and couriers only ride in the city of the shop', () => {
  const kinds = (shop: string, to: string, lines: Line[] = []) =>
    shippingOptions(shop, to, lines, 10).map(({ shipping }) => shipping)
  const session = open(1)
  const table = product(session, ({ bulky }) => bulky)
  const bulky = { product: table, variant: variant(session, (row) => row.product === table.product), quantity: 1 }
  assert.equal(kinds('Lyon', 'Lyon'), ['standard', 'express', 'courier'])
  assert.equal(kinds('Lyon', 'Oslo'), ['standard', 'express'])
  assert.equal(kinds('Lyon', 'Boston'), ['standard'])
  assert.equal(kinds('Lyon', 'Lyon', [bulky]), ['standard'])
  assert.is(shippingOptions('Lyon', 'Oslo', [], LIMITS.freeShipping)[0]!.cost, 0)
})

test('discounts are shared by the lines in whole units without remainder', () => {
  assert.equal(allocate(10, [10, 10, 10]), [4, 3, 3])
  assert.equal(allocate(7, [1, 0, 9]), [1, 0, 6])
  assert.equal(allocate(0, [0, 0]), [0, 0])
  const session = open(1)
  const lines = shopOf(session)
    .variants.list()
    .slice(0, 3)
    .map((row) => ({ variant: row, product: productOf(session, row), quantity: 2 }))
  const bill = billOf(lines, { ...coupon(session, () => true), category: null, percent: 15 }, 5)
  assert.is(
    bill.paid.reduce((sum, part) => sum + part, 0),
    bill.due,
  )
  assert.is(bill.due, bill.goods - bill.discount - 5)
})

test('a search for a whole title finds that product, and few others', () => {
  let titles = 0
  let few = 0
  for (let seed = 1; seed <= 10; seed++) {
    const session = open(seed)
    for (const { title, product: key } of shopOf(session).products.list()) {
      const { found, products } = succeed(session, 'search_products', { text: title.toUpperCase() })
      assert.ok((products as { product: string }[]).some((row) => row.product === key))
      titles++
      if ((found as number) <= 2) few++
    }
  }
  assert.ok(few >= 0.97 * titles, `${few} of ${titles}`)
})

test('a review changes the rating of its product', () => {
  const session = open(6)
  const { product: key } = item(
    session,
    (row, { status }) => status === 'delivered' && !shopOf(session).reviews.has(row.product),
  )
  const { stars, reviews } = product(session, (row) => row.product === key)
  const stated = succeed(session, 'write_review', { product: key, stars: 1, text: 'fell apart' })
  assert.is(stated.reviews, reviews + 1)
  assert.is(stated.rating, Math.round((10 * (stars + 1)) / (reviews + 1)) / 10)
  assert.is(succeed(session, 'show_product', { product: key }).rating, stated.rating)
})

test('nothing is in the cart twice or also on the wishlist, even when a scarce article was chosen before', () => {
  for (const seed of [353859272, 3932119901, 1083490159, 259674497]) assert.equal(open(seed).violations(), [])
})

test.run()
