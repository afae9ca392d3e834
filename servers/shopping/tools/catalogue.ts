import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { ascending } from '../../kernel/lists.js'
import { mentioning } from '../../kernel/text.js'
import { CATEGORIES, money, type Product, tool } from '../schema.js'

const entry = z.object({ title: z.string(), product: ref('product'), brand: z.string(), price: money })
const maxPrice = money.optional().describe('Highest price, in whole currency units')

/** The cheapest first; among equals, the order of the catalogue. */
const cheapest = (products: readonly Product[]): Product[] => [...products].sort(ascending('price'))

/** A round price a little above `price`, as people name them. */
const roundAbove = (price: number): number => (Math.floor(price / 10) + 1) * 10

const listBrands = tool({
  name: 'list_brands',
  description: 'List the brands the shop has in a category, with the number of products of each.',
  input: z.strictObject({ category: z.enum(CATEGORIES).describe('Category of products.') }),
  output: z.object({
    found: z.int(),
    brands: z.array(z.object({ name: z.string(), brand: ref('brand'), products: z.int() })),
  }),
  pages: { brands: 'short' },
  annotations: { readOnly: true },
  sample: ({ random, bound }) => ({ category: random.pick(CATEGORIES), ...bound }),
  run({ category }, { db }) {
    const counts = new Map<string, number>()
    for (const { brand } of db.products.by('category', category)) counts.set(brand, (counts.get(brand) ?? 0) + 1)
    const brands = [...counts].map(([brand, products]) => ({ ...db.brands.get(brand)!, products }))
    return { found: brands.length, brands }
  },
})

const browseProducts = tool({
  name: 'browse_products',
  description: 'List the products of a brand, the cheapest first.',
  input: z.strictObject({
    brand: ref('brand'),
    category: z.enum(CATEGORIES).describe('Only products of this category.').optional(),
    max_price: maxPrice,
  }),
  output: z.object({
    found: z.int(),
    products: z.array(z.object({ title: z.string(), product: ref('product'), price: money })),
  }),
  pages: { products: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(
      db.products,
      random,
      undefined,
      ({ brand, category }) => brand === (bound.brand ?? brand) && category === (bound.category ?? category),
    )
    if (!row) return null
    return {
      brand: row.brand,
      ...(random.chance(0.3) ? { category: row.category } : {}),
      ...(random.chance(0.3) ? { max_price: roundAbove(row.price) } : {}),
      ...bound,
    }
  },
  run({ brand, category, max_price = Number.POSITIVE_INFINITY }, { rowOf, db }) {
    rowOf('brands', brand)
    const products = db.products
      .by('brand', brand)
      .filter((row) => row.price <= max_price && (category === undefined || row.category === category))
    return { found: products.length, products: cheapest(products) }
  },
})

const searchProducts = tool({
  name: 'search_products',
  description: 'Search the catalogue for words in title or brand, the cheapest first.',
  input: z.strictObject({
    text: z.string().trim().min(2).max(40).describe('Words that must all occur in title or brand'),
    category: z.enum(CATEGORIES).describe('Only products of this category.').optional(),
    max_price: maxPrice,
  }),
  output: z.object({ found: z.int(), products: z.array(entry) }),
  pages: { products: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(
      db.products,
      random,
      undefined,
      ({ category, price }) => category === (bound.category ?? category) && price <= (bound.max_price ?? price),
    )
    if (!row) return null
    // By one word people look for a kind of thing.
    const word = row.title.split(' ').at(-1)!
    const rare = db.products.count(({ words }) => words.includes(word.toLowerCase())) <= 3
    return {
      text: rare && random.chance(0.2) ? word : row.title,
      ...(random.chance(0.3) ? { category: row.category } : {}),
      ...(random.chance(0.3) ? { max_price: roundAbove(row.price) } : {}),
      ...bound,
    }
  },
  run({ text, category, max_price = Number.POSITIVE_INFINITY }, { db }) {
    const matches = mentioning(text)
    const fits = (row: Product) => row.price <= max_price && matches(row.words)
    const products = category === undefined ? db.products.list(fits) : db.products.by('category', category).filter(fits)
    const shown = cheapest(products).map((row) => ({ ...row, brand: db.brands.get(row.brand)!.name }))
    return { found: products.length, products: shown }
  },
})

const showProduct = tool({
  name: 'show_product',
  description:
    'Show a product with its average rating and its variants, their prices and stock. What is on final sale cannot be returned.',
  input: z.strictObject({ product: ref('product') }),
  output: z.object({
    title: z.string(),
    product: ref('product'),
    brand: z.string(),
    rating: z.number(),
    final_sale: z.boolean(),
    variants: z.array(z.object({ name: z.string(), variant: ref('variant'), price: money, stock: z.int() })),
  }),
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const row = choose(db.products, random, bound.product)
    return row ? { product: row.product } : null
  },
  run({ product }, context) {
    const row = context.rowOf('products', product)
    return {
      title: row.title,
      product,
      brand: context.db.brands.get(row.brand)!.name,
      rating: ratingOf(row),
      final_sale: !row.returnable,
      variants: [...context.db.variants.by('product', product)],
    }
  },
})

/** The average of all stars, to one decimal; 0 without reviews. */
export function ratingOf({ stars, reviews }: Pick<Product, 'stars' | 'reviews'>): number {
  return reviews === 0 ? 0 : Math.round((10 * stars) / reviews) / 10
}

export const catalogueTools = [listBrands, searchProducts, browseProducts, showProduct]
