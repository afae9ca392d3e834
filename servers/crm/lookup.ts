import type { Context, CrmContact } from './schema.js'

/** The contact, unless it was merged into another. */
export function contactOf({ rowOf, fail }: Context, key: string): CrmContact {
  const contact = rowOf('contacts', key)
  return contact.merged_into === null ? contact : fail('contact_merged', `It was merged into ${contact.merged_into}.`)
}
