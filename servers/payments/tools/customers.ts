import { z } from 'zod'
import { ref, sensitive } from '../../kernel/fields.js'
import { mentioning } from '../../kernel/text.js'
import { isUsable, owedBy } from '../rules.js'
import { tool } from '../schema.js'

const findCustomer = tool({
  name: 'find_customer',
  description:
    'Find customers by name or part of it: what they owe in euros, and their saved cards that have not expired.',
  input: z.strictObject({ name: z.string().min(2).max(40).describe('Name or part of it.') }),
  output: z.object({
    found: z.int(),
    customers: z.array(
      z.object({
        name: z.string(),
        customer: ref('customer'),
        status: z.string(),
        owes: z.int(),
        cards: z.array(z.object({ name: z.string(), token: sensitive(ref('token')) })),
      }),
    ),
  }),
  pages: { customers: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { name, customer } = random.pick(db.customers.list())
    const surname = customer.slice(0, customer.indexOf('-'))
    return { name: random.chance(0.25) ? surname : name, ...bound }
  },
  run({ name }, { db, today }) {
    const matches = mentioning(name)
    const found = db.customers.list(({ text }) => matches(text))
    const date = today()
    const customers = found.map((row) => ({
      name: row.name,
      customer: row.customer,
      status: row.status,
      owes: owedBy(db, row.customer),
      cards: db.tokens.by('customer', row.customer).filter((token) => isUsable(token, date)),
    }))
    return { found: found.length, customers }
  },
})

export const customerTools = [findCustomer]
