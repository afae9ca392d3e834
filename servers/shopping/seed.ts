import { addDays } from '../kernel/dates.js'
import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { addressIn, CITIES } from '../kernel/gazetteer.js'
import { twoDigitNumbers } from '../kernel/key-numbers.js'
import type { SeededRandom } from '../kernel/random.js'
import { slug } from '../kernel/text.js'
import { couponObstacle, LIMITS, type Line } from './rules.js'
import {
  type Brand,
  CATEGORIES,
  type Category,
  type Coupon,
  type DeliveryAddress,
  type GiftCard,
  type PaymentMethod,
  type Product,
  type ShoppingTables,
  type Variant,
} from './schema.js'
import { seedOrders } from './seed-orders.js'
import * as words from './words.js'

const BRANDS = 12
const BRANDS_PER_CATEGORY = 4
const PRODUCTS_PER_CATEGORY = 12

/**
 * Creates a shop and one of its customers: a catalogue, a partly filled cart, good and bad coupons, and a year of orders.
 */
export function seedShopping({ random, start, home }: SeedContext): SeedRows<ShoppingTables> {
  const today = start.slice(0, 10)
  const brands = random.sample(words.BRAND_NAMES, BRANDS).map((name): Brand => ({ brand: slug(name), name }))
  const { products, variants } = seedCatalogue(random, brands)
  // A few have moved since they opened their account.
  const shop_city = (random.chance(0.95) ? home : random.pick(CITIES)).city
  const delivery_addresses = seedAddresses(random, shop_city)
  const payment_methods = seedPaymentMethods(random)
  const coupons = seedCoupons(random, today)
  const past = seedOrders({
    random,
    start,
    products,
    variants,
    addresses: delivery_addresses,
    methods: payment_methods,
    usedCoupon: coupons.find(({ used }) => used)!,
  })
  const { cart, wishes } = seedWants(random, products, variants)
  const lines = linesOf({ cart, products, variants })
  const fitting = coupons.filter((coupon) => !couponObstacle(coupon, lines, today))
  return {
    brands,
    products: products.map((product) => past.reviewed(product)),
    variants,
    cart_lines: cart,
    wishes,
    customers: [
      {
        customer: 'me',
        points: random.int(0, 16) * 60 + random.int(0, 59),
        pending_points: past.pendingPoints,
        // Some have put a coupon on the cart already.
        coupon: fitting.length > 1 && random.chance(0.3) ? random.pick(fitting).coupon : null,
        shop_city,
      },
    ],
    coupons,
    delivery_addresses,
    payment_methods,
    gift_cards: seedGiftCards(random, today),
    orders: past.orders,
    order_items: past.items,
    reviews: past.reviews,
  }
}

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)

function seedCatalogue(random: SeededRandom, brands: readonly Brand[]): { products: Product[]; variants: Variant[] } {
  const numbers = twoDigitNumbers(random, CATEGORIES.length * PRODUCTS_PER_CATEGORY)
  const products: Product[] = []
  const variants: Variant[] = []
  for (const category of CATEGORIES) {
    const makers = random.sample(brands, BRANDS_PER_CATEGORY)
    for (const { kind, adjective, brand } of designs(random, category, makers)) {
      const title = `${adjective} ${capital(kind.noun)}`
      const price = random.int(kind.low, kind.high)
      const product = `${kind.noun}-${numbers.pop()}`
      const made = random.sample(kind.options, random.int(2, 3)).map((option, i): Variant => {
        const dearer = i === 0 ? 0 : random.pick([0, 0, 2, 5, Math.ceil(price / 5)])
        return {
          variant: `${product}-${slug(option)}`,
          product,
          name: `${title} in ${option}`,
          price: price + dearer,
          stock: random.chance(0.12) ? 0 : random.chance(0.2) ? random.int(1, 3) : random.int(4, 40),
        }
      })
      const reviews = random.int(0, 60)
      variants.push(...made)
      products.push({
        product,
        title,
        brand: brand.brand,
        category,
        price,
        bulky: kind.bulky ?? false,
        returnable: !random.chance(0.12),
        stars: Array.from({ length: reviews }, () => random.pick([2, 3, 4, 4, 5, 5])).reduce((a, b) => a + b, 0),
        reviews,
        words: `${title} ${brand.name}`.toLowerCase(),
      })
    }
  }
  return { products, variants }
}

interface Design {
  readonly kind: words.ProductKind
  readonly adjective: string
  readonly brand: Brand
}

/** What the shop sells in a category: all combinations differ, but for the last, whose title two brands share. */
function designs(random: SeededRandom, category: Category, makers: readonly Brand[]): Design[] {
  const all = words.KINDS[category].flatMap((kind) =>
    words.ADJECTIVES[category].map((adjective) => ({ kind, adjective })),
  )
  const made = random
    .sample(all, PRODUCTS_PER_CATEGORY - 1)
    .map((design, i) => ({ ...design, brand: makers[i % makers.length]! }))
  return [...made, { ...made[0]!, brand: makers[1]! }]
}

/** An address near the shop, one that express reaches, one overseas of it, and sometimes another. */
function seedAddresses(random: SeededRandom, shopCity: string): DeliveryAddress[] {
  const overseas = (country: string) => country === 'United States' || country === 'Canada'
  const here = CITIES.find(({ city }) => city === shopCity)!
  const near = CITIES.filter(({ city, country }) => city !== shopCity && overseas(country) === overseas(here.country))
  const far = CITIES.filter(({ country }) => overseas(country) !== overseas(here.country))
  const cities = [shopCity, random.pick(near).city, random.pick(far).city, random.pick(near).city]
  const names = ['Home', ...random.sample(words.AWAY_NAMES, random.int(2, LIMITS.addresses - 2))]
  return names.map((name, i) => ({
    delivery_address: slug(name),
    name,
    address: addressIn(random, cities[i]!),
    city: cities[i]!,
  }))
}

function seedPaymentMethods(random: SeededRandom): PaymentMethod[] {
  const names = random.sample(words.CARD_NAMES, 3)
  const numbers = twoDigitNumbers(random, 3)
  const available = [random.int(400, 1500), random.int(20, 120), random.int(100, 500)]
  const cards = names.map((name, i): PaymentMethod => {
    const brand = random.pick(words.CARD_BRANDS)
    return {
      payment_method: `${brand}-${numbers[i]}`,
      name: `${name} ${capital(brand)}`,
      kind: 'card',
      available: available[i]!,
      status: i === 2 ? 'expired' : 'active',
    }
  })
  return [
    ...random.shuffle(cards),
    {
      payment_method: 'pay-later',
      name: 'Pay Later',
      kind: 'invoice',
      available: random.int(4, 12) * 25,
      status: 'active',
    },
    {
      payment_method: 'store-credit',
      name: 'Store Credit',
      kind: 'credit',
      available: random.int(0, 90),
      status: 'active',
    },
  ]
}

/** For each category one that can be used, two for everything, two that have expired and one that was used. */
function seedCoupons(random: SeededRandom, today: string): Coupon[] {
  const kinds = [...CATEGORIES, null, null, 'old', 'old', 'used'] as const
  const names = random.sample(words.COUPON_NAMES, kinds.length)
  const coupons = kinds.map((kind, i): Coupon => {
    const percent = random.pick([5, 10, 15, 20, 25])
    return {
      coupon: `${names[i]!.toLowerCase()}-${percent}`,
      name: `${names[i]} Coupon`,
      percent,
      category: kind === 'old' || kind === 'used' ? random.pick(CATEGORIES) : kind,
      minimum: random.pick([10, 20, 30, 40, 60]),
      expires: addDays(today, kind === 'old' ? -random.int(1, 40) : random.int(0, 45)),
      used: kind === 'used',
    }
  })
  return random.shuffle(coupons)
}

function seedGiftCards(random: SeededRandom, today: string): GiftCard[] {
  const kinds = ['good', 'good', 'good', 'old', 'redeemed'] as const
  const codeWords = random.sample(words.CODE_WORDS, 2 * kinds.length)
  return kinds.map((kind, i) => ({
    code: `${codeWords[2 * i]}-${codeWords[2 * i + 1]}-${random.int(10, 99)}`,
    amount: random.int(2, 20) * 5,
    expires: addDays(today, kind === 'old' ? -random.int(1, 90) : random.int(10, 700)),
    redeemed: kind === 'redeemed',
  }))
}

/** A cart, empty in some environments and in some with more of an article than is left, and a wishlist with something that is sold out. */
function seedWants(random: SeededRandom, products: readonly Product[], variants: readonly Variant[]) {
  const dear = new Set(products.filter(({ price }) => price > 150).map(({ product }) => product))
  const inStock = random.sample(
    variants.filter(({ stock, product }) => stock > 3 && !dear.has(product)),
    6,
  )
  const soldOut = random.pick(variants.filter(({ stock }) => stock === 0))
  // An article that is low on stock may be one of those in stock: the cart holds it once, and nothing is in both places.
  const scarce = variants.find((row) => row.stock > 0 && row.stock < LIMITS.perVariant && !inStock.includes(row))
  const cart = random.chance(0.25)
    ? []
    : inStock.slice(0, random.int(1, 2)).map(({ variant }) => ({ variant, quantity: random.pick([1, 1, 1, 2]) }))
  const short = scarce && random.chance(0.15) ? [{ variant: scarce.variant, quantity: scarce.stock + 1 }] : []
  const wishes = random.shuffle([soldOut, ...inStock.slice(2, 2 + random.int(2, 3))])
  return { cart: [...cart, ...short], wishes: wishes.map(({ variant }) => ({ variant })) }
}

function linesOf({
  cart,
  products,
  variants,
}: Pick<SeedRows<ShoppingTables>, 'products' | 'variants'> & {
  readonly cart: SeedRows<ShoppingTables>['cart_lines']
}): Line[] {
  return cart.map(({ variant: key, quantity }) => {
    const variant = variants.find((row) => row.variant === key)!
    return { variant, product: products.find((row) => row.product === variant.product)!, quantity }
  })
}
