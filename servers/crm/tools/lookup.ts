import type { Company, Context, CrmContact, Deal, DiscountRequest, Lead, Rep } from '../schema.js'

type Reader = Pick<Context, 'db' | 'fail'>

export function repOf({ db, fail }: Reader, key: string): Rep {
  return db.reps.get(key) ?? fail('unknown_rep', `There is no sales rep ${key}.`)
}

export function companyOf({ db, fail }: Reader, key: string): Company {
  return db.companies.get(key) ?? fail('unknown_company', `There is no company ${key}.`)
}

/** The contact, unless it was merged into another. */
export function contactOf({ db, fail }: Reader, key: string): CrmContact {
  const contact = db.contacts.get(key) ?? fail('unknown_crm_contact', `There is no contact ${key}.`)
  return contact.merged_into === null ? contact : fail('contact_merged', `It was merged into ${contact.merged_into}.`)
}

export function leadOf({ db, fail }: Reader, key: string): Lead {
  return db.leads.get(key) ?? fail('unknown_lead', `There is no lead ${key}.`)
}

export function dealOf({ db, fail }: Reader, key: string): Deal {
  return db.deals.get(key) ?? fail('unknown_deal', `There is no deal ${key}.`)
}

export function requestOf({ db, fail }: Reader, key: string): DiscountRequest {
  return db.discount_requests.get(key) ?? fail('unknown_discount_request', `There is no discount request ${key}.`)
}

/** Entries that a list or search shows at most; some have long ones. */
export const SHOWN = 5
export const SHOWN_LONG = 4
