import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import { mentioning } from '../../kernel/text.js'
import { tool } from '../schema.js'

/** Days before its end at which a passport is replaced. */
const SOON = 540
/** Days for which a passport is issued at most. */
const PASSPORT_DAYS = 3653

const findTraveller = tool({
  name: 'find_traveller',
  description: 'Find travellers by name, with their loyalty tier, points and the date on which their passport expires.',
  input: z.strictObject({ name: z.string().trim().min(2).max(40).describe('Full name or part of it.') }),
  output: z.object({
    found: z.int(),
    travellers: z.array(
      z.object({
        name: z.string(),
        traveller: ref('traveller'),
        tier: z.string(),
        points: z.int(),
        passport_expires: z.string(),
      }),
    ),
  }),
  pages: { travellers: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { name } = random.pick(db.travellers.list())
    return { name: random.chance(0.15) ? name.split(' ').at(-1)! : name, ...bound }
  },
  run({ name }, { db }) {
    const matches = mentioning(name)
    const travellers = db.travellers.list((row) => matches(row.name.toLowerCase()))
    return { found: travellers.length, travellers }
  },
})

const updatePassport = tool({
  name: 'update_passport',
  description:
    'Record that a traveller has a new passport. It expires later than the old one and at most ten years from now.',
  input: z.strictObject({ traveller: ref('traveller'), expires: z.iso.date().describe('YYYY-MM-DD') }),
  output: z.object({ name: z.string(), traveller: ref('traveller'), passport_expires: z.string() }),
  annotations: { readOnly: false },
  establishes: ['passport_renewed'],
  sample({ db, random, bound, today }) {
    const last = addDays(today(), 3100)
    // People get a new passport when the old one runs out.
    const soon = addDays(today(), SOON)
    const row = choose(db.travellers, random, bound.traveller, ({ passport_expires }) => passport_expires < soon)
    return row ? { traveller: row.traveller, expires: addDays(last, random.int(0, 550)), ...bound } : null
  },
  run({ traveller, expires }, { rowOf, db, fail, today }) {
    const row = rowOf('travellers', traveller)
    if (expires <= row.passport_expires || expires <= today() || expires > addDays(today(), PASSPORT_DAYS))
      fail('invalid_expiry', `The passport of ${row.name} expires on ${row.passport_expires} so far.`)
    return db.travellers.update(traveller, { passport_expires: expires })
  },
})

export const travellerTools = [findTraveller, updatePassport]
