import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { LIMITS } from '../rules.js'
import { money, tool, type Variant } from '../schema.js'

const addToWishlist = tool({
  name: 'add_to_wishlist',
  description: `Remember a variant of a product on the wishlist, also when it is sold out. The wishlist holds ${LIMITS.wishes} and nothing that is in the cart.`,
  input: z.strictObject({ variant: ref('variant') }),
  output: z.object({ name: z.string(), variant: ref('variant'), on_wishlist: z.int() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    if (db.wishes.count() >= LIMITS.wishes) return null
    const fits = ({ variant }: Variant) => !db.wishes.has(variant) && !db.cart_lines.has(variant)
    const row = choose(db.variants, random, bound.variant, fits)
    return row ? { variant: row.variant } : null
  },
  run({ variant }, { rowOf, db, fail }) {
    const { name } = rowOf('variants', variant)
    if (db.wishes.has(variant)) fail('already_on_wishlist', `${name} is on the wishlist already.`)
    if (db.cart_lines.has(variant)) fail('already_in_cart', `${name} is in the cart already.`)
    const count = db.wishes.count()
    if (count >= LIMITS.wishes) fail('wishlist_full', `It holds ${LIMITS.wishes} articles.`)
    db.wishes.insert({ variant })
    return { name, variant, on_wishlist: count + 1 }
  },
})

const viewWishlist = tool({
  name: 'view_wishlist',
  description: 'Show what is on the wishlist, the newest first, with price and stock.',
  input: z.strictObject({}),
  output: z.object({
    found: z.int(),
    items: z.array(z.object({ name: z.string(), variant: ref('variant'), price: money, stock: z.int() })),
  }),
  pages: { items: 'short' },
  annotations: { readOnly: true },
  sample: () => ({}),
  run(_, { db }) {
    const wishes = db.wishes.list().reverse()
    return { found: wishes.length, items: wishes.map(({ variant }) => db.variants.get(variant)!) }
  },
})

export const wishlistTools = [addToWishlist, viewWishlist]
