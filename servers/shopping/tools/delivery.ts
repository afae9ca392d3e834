import { z } from 'zod'
import { choose, pickFrom } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { addressIn, CITIES, parseAddress } from '../../kernel/gazetteer.js'
import { slug } from '../../kernel/text.js'
import { cartBill, cartLines, customerOf, LIMITS, shippingOptions } from '../rules.js'
import { money, SHIPPINGS, tool } from '../schema.js'
import { ANYWHERE, AWAY_NAMES, LOCAL_NAMES, RECEIVING } from '../words.js'

const addressEntry = z.object({
  name: z.string(),
  delivery_address: ref('delivery_address'),
  address: common('address', z.string()),
})

const listDeliveryAddresses = tool({
  name: 'list_delivery_addresses',
  description: 'List the delivery addresses you have saved in the shop.',
  input: z.strictObject({}),
  output: z.object({ found: z.int(), delivery_addresses: z.array(addressEntry) }),
  annotations: { readOnly: true },
  sample: () => ({}),
  run(_, { db }) {
    const delivery_addresses = db.delivery_addresses.list()
    return { found: delivery_addresses.length, delivery_addresses }
  },
})

const addDeliveryAddress = tool({
  name: 'add_delivery_address',
  description: `Save a delivery address under a name, at most ${LIMITS.addresses} in all.`,
  input: z.strictObject({
    name: z
      .string()
      .trim()
      .min(2)
      .max(20)
      .regex(/^[A-Za-z][A-Za-z ]+$/, 'a name has letters and spaces')
      .describe('Such as Home'),
    address: common('address', z.string().trim().min(8).max(60).describe('Such as 12 Rua do Moinho, Lisbon')),
  }),
  output: addressEntry,
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    if (db.delivery_addresses.count() >= LIMITS.addresses) return null
    if (bound.name !== undefined && !RECEIVING.has(bound.name)) return null
    const isLocal = random.chance(0.7)
    const home = db.delivery_addresses.list()[0]?.city ?? random.pick(CITIES).city
    const elsewhere = CITIES.filter(({ city }) => city !== home)
    // Of an address that another environment has shown nobody knows where it is.
    const fitting = bound.address !== undefined ? ANYWHERE : isLocal ? LOCAL_NAMES : AWAY_NAMES
    const free = fitting.filter((name) => !db.delivery_addresses.has(slug(name)))
    const name = pickFrom(random, free)
    const city = isLocal ? home : random.pick(elsewhere).city
    return name === undefined ? null : { name, address: addressIn(random, city), ...bound }
  },
  run({ name, address }, { db, fail }) {
    const place = parseAddress(address) ?? fail('address_not_found', `There is no ${address}.`)
    const delivery_address = slug(name)
    if (db.delivery_addresses.has(delivery_address)) fail('address_name_taken', `There is a ${name} already.`)
    if (db.delivery_addresses.count() >= LIMITS.addresses) fail('too_many_addresses')
    return db.delivery_addresses.insert({
      delivery_address,
      name,
      address: `${place.house} ${place.street}, ${place.city.city}`,
      city: place.city.city,
    })
  },
})

const listShippingOptions = tool({
  name: 'list_shipping_options',
  description: `List how the cart can be sent to a delivery address, with cost and day of arrival. Standard is free from ${LIMITS.freeShipping} after the coupon; bulky articles go by standard only.`,
  input: z.strictObject({ delivery_address: ref('delivery_address') }),
  output: z.object({
    name: z.string(),
    delivery_address: ref('delivery_address'),
    options: z.array(z.object({ shipping: z.enum(SHIPPINGS), cost: money, arrives: common('date', z.string()) })),
  }),
  annotations: { readOnly: true },
  needs: ['cart_filled'],
  sample({ db, random, bound }) {
    const row = choose(db.delivery_addresses, random, bound.delivery_address)
    return row ? { delivery_address: row.delivery_address } : null
  },
  run({ delivery_address }, { rowOf, db, today }) {
    const { name, city } = rowOf('delivery_addresses', delivery_address)
    const lines = cartLines(db)
    const options = shippingOptions(customerOf(db).shop_city, city, lines, cartBill(db, lines).due)
    const date = today()
    return {
      name,
      delivery_address,
      options: options.map(({ shipping, cost, days }) => ({ shipping, cost, arrives: addDays(date, days) })),
    }
  },
})

export const deliveryTools = [listDeliveryAddresses, addDeliveryAddress, listShippingOptions]
