import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { common, ref } from '../../kernel/fields.js'
import { ascending } from '../../kernel/lists.js'
import { mentioning } from '../../kernel/text.js'
import { availableOf, isLow, isOpen } from '../rules.js'
import { chooseStock } from '../sampling.js'
import { type Article, DEPARTMENTS, money, type Stock, tool } from '../schema.js'

const cityName = () => common('city', z.string().trim().min(2).max(40))

const findStores = tool({
  name: 'find_stores',
  description: 'List the stores of the chain in a city, with opening hours (UTC) and whether they are open now.',
  input: z.strictObject({ city: cityName().describe('Name of the city, such as Oslo.') }),
  output: z.object({
    found: z.int(),
    stores: z.array(
      z.object({
        name: z.string(),
        store: ref('store'),
        address: common('address', z.string()),
        opens: z.string(),
        closes: z.string(),
        open_now: z.boolean(),
      }),
    ),
  }),
  pages: { stores: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(db.stores, random, undefined)
    return row ? { city: row.city, ...bound } : null
  },
  run({ city }, { db, now }) {
    const name = city.toLowerCase()
    const at = now()
    const stores = db.stores.list((row) => row.city.toLowerCase() === name)
    return {
      found: stores.length,
      stores: stores.map((row) => ({ ...row, open_now: isOpen(row, at) })),
    }
  },
})

const searchArticles = tool({
  name: 'search_articles',
  description:
    'Search the articles of the chain by words of the title, with list price, pieces per pack and pieces in the warehouse.',
  input: z.strictObject({
    text: z.string().trim().min(2).max(40).describe('Words that must all occur in the title'),
    department: z.enum(DEPARTMENTS).describe('Only articles of this department.').optional(),
  }),
  output: z.object({
    found: z.int(),
    articles: z.array(
      z.object({ title: z.string(), article: ref('article'), price: money, pack: z.int(), warehouse: z.int() }),
    ),
  }),
  pages: { articles: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(
      db.articles,
      random,
      undefined,
      ({ department }) => department === (bound.department ?? department),
    )
    if (!row) return null
    // By one word people look for a kind of thing.
    const word = row.title.split(' ').at(-1)!
    const rare = db.articles.count(({ words }) => words.includes(word.toLowerCase())) <= 3
    return {
      text: rare && random.chance(0.2) ? word : row.title,
      ...(random.chance(0.3) ? { department: row.department } : {}),
      ...bound,
    }
  },
  run({ text, department }, { db }) {
    const matches = mentioning(text)
    const fits = (row: Article) => (department === undefined || row.department === department) && matches(row.words)
    const articles = db.articles.list(fits)
    return { found: articles.length, articles }
  },
})

const checkStock = tool({
  name: 'check_stock',
  description:
    'Show which stores have an article available, those with the most first, and for which customers it is kept. Reserved pieces are not available.',
  input: z.strictObject({
    article: ref('article'),
    city: cityName().describe('Only stores in this city, such as Oslo.').optional(),
  }),
  output: z.object({
    title: z.string(),
    article: ref('article'),
    found: z.int(),
    // The article is what one asks further about; with the store as a reference too, requests would drift to another article or store.
    stores: z.array(z.object({ name: z.string(), store: z.string(), available: z.int(), price: money })),
    kept_for: z.array(z.object({ customer_name: z.string(), reservation: ref('reservation') })),
  }),
  pages: { stores: 'longest', kept_for: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = chooseStock(db, random, { article: bound.article }, (stock) => availableOf(stock) > 0)
    if (!row) return null
    const { city } = db.stores.get(row.store)!
    return { article: row.article, ...(random.chance(0.15) ? { city } : {}), ...bound }
  },
  run({ article, city }, { rowOf, db }) {
    const { title } = rowOf('articles', article)
    const name = city?.toLowerCase()
    const isThere = ({ store }: { readonly store: string }) =>
      name === undefined || db.stores.get(store)!.city.toLowerCase() === name
    const having = db.stocks.by('article', article).filter((row) => availableOf(row) > 0 && isThere(row))
    having.sort((a, b) => availableOf(b) - availableOf(a))
    const stores = having.map((row) => ({
      ...row,
      name: db.stores.get(row.store)!.name,
      available: availableOf(row),
    }))
    const kept_for = db.reservations.by('article', article).filter((row) => row.status === 'open' && isThere(row))
    return { title, article, found: having.length, stores, kept_for }
  },
})

const showStore = tool({
  name: 'show_store',
  description:
    'Show whether a store is open now, which articles run low there and which shipments it has not received yet, those due first.',
  input: z.strictObject({ store: ref('store') }),
  output: z.object({
    name: z.string(),
    store: ref('store'),
    open_now: z.boolean(),
    low_articles: z.int(),
    low: z.array(z.object({ title: z.string(), article: ref('article'), on_hand: z.int() })),
    open_shipments: z.int(),
    shipments: z.array(z.object({ title: z.string(), shipment: ref('shipment'), due: common('date', z.string()) })),
  }),
  pages: { low: 'longest', shipments: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(db.stores, random, bound.store)
    return row ? { store: row.store } : null
  },
  run({ store: key }, { rowOf, db, now }) {
    const store = rowOf('stores', key)
    const low = db.stocks.by('store', key).filter(isLow)
    const shipments = db.shipments
      .by('to_store', key)
      .filter(({ status }) => status === 'transit')
      .sort(ascending('due'))
    const titled = (row: Stock) => ({ ...row, title: db.articles.get(row.article)!.title })
    return {
      name: store.name,
      store: key,
      open_now: isOpen(store, now()),
      low_articles: low.length,
      low: low.map(titled),
      open_shipments: shipments.length,
      shipments,
    }
  },
})

export const findingTools = [findStores, searchArticles, checkStock, showStore]
