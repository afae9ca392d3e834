import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { crmInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedCrm } from './seed.js'
import { activityTools } from './tools/activities.js'
import { companyTools } from './tools/companies.js'
import { contactTools } from './tools/contacts.js'
import { dealTools } from './tools/deals.js'
import { leadTools } from './tools/leads.js'

/** A sales team's customers: leads become deals, deals move through a pipeline, and reps have territories, quotas and limits. */
export const crm = defineEnvironment({
  name: 'crm',
  title: 'CRM',
  description: 'Companies, contacts, leads, deals and activities of a sales team, seen by one of its reps.',
  tables,
  entities: {
    rep: { noun: 'sales rep', table: 'reps', label: 'name' },
    company: { noun: 'company', table: 'companies', label: 'name' },
    crm_contact: { noun: 'contact', table: 'contacts', label: 'name' },
    lead: { noun: 'lead', table: 'leads', label: 'name' },
    deal: { noun: 'deal', table: 'deals', label: 'title' },
    discount_request: { noun: 'discount request', table: 'discount_requests', label: 'title', sayable: true },
    activity: { noun: 'activity', table: 'activities', label: 'title' },
  },
  failures,
  tools: [...companyTools, ...contactTools, ...leadTools, ...dealTools, ...activityTools],
  invariants: crmInvariants,
  domainRules,
  seed: seedCrm,
})
