import { z } from 'zod'
import { type DbView, type ObstacleOf, type RowOf, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const TERRITORIES = ['north', 'south', 'central', 'overseas'] as const
export const LEAD_STATUSES = ['new', 'contacted', 'qualified', 'converted', 'lost'] as const
export const STAGES = ['discovery', 'proposal', 'negotiation', 'won', 'lost'] as const
export const ACTIVITY_KINDS = ['call', 'meeting', 'demo', 'visit'] as const
export const OUTCOMES = ['successful', 'missed', 'refused'] as const

/** Whole currency units. */
export const money = z.int().min(0).max(10_000_000)
const percent = z.int().min(0).max(100)
const date = z.iso.date()

const rep = z.object({
  rep: z.string(),
  name: z.string(),
  territory: z.enum(TERRITORIES),
  /** What the rep is to win this year. */
  quota: money,
  /** What the rep has won this year, some of it with companies that are no longer in the system. */
  won: money,
  /** Value of the rep's open deals after discounts. */
  pipeline: money,
  /** Whether this is the user. */
  is_me: z.boolean(),
})

const company = z.object({
  company: z.string(),
  name: z.string(),
  address: z.string(),
  city: z.string(),
  /** Its owner. */
  rep: z.string(),
  /** When somebody of the company was last reached; null if never. */
  last_reached: date.nullable(),
  /** What searches look into: name and city in lower case. */
  text: z.string(),
})

const contact = z.object({
  crm_contact: z.string(),
  name: z.string(),
  email: z.string(),
  company: z.string(),
  do_not_contact: z.boolean(),
  /** The contact that this one, a duplicate, was merged into; null while it is one of its own. */
  merged_into: z.string().nullable(),
  /** What searches look into: name, email and company in lower case. */
  text: z.string(),
})

const lead = z.object({
  lead: z.string(),
  /** The person's name. */
  name: z.string(),
  email: z.string(),
  /** Name of the firm, which may or may not be a company of the system. */
  firm: z.string(),
  address: z.string(),
  city: z.string(),
  /** The product the lead asked about. */
  interest: z.string(),
  status: z.enum(LEAD_STATUSES),
  budget: money.nullable(),
  /** Whose lead it is; null for nobody's. */
  rep: z.string().nullable(),
  /** What a converted lead became; null before. */
  deal: z.string().nullable(),
})

const deal = z.object({
  deal: z.string(),
  title: z.string(),
  company: z.string(),
  crm_contact: z.string(),
  rep: z.string(),
  stage: z.enum(STAGES),
  amount: money.min(1),
  /** In force, and part of the deal's value. */
  discount: percent,
  /** Whether a second rep approved the discount in force. */
  approved: z.boolean(),
  /** The open request for a higher discount. */
  request: z.string().nullable(),
  close_date: date.nullable(),
  closed_on: date.nullable(),
})

/** A discount that needs a second rep. */
const discountRequest = z.object({
  discount_request: z.string(),
  /** Of the deal. */
  title: z.string(),
  deal: z.string(),
  percent,
  status: z.enum(['open', 'approved', 'withdrawn']),
})

const activity = z.object({
  activity: z.string(),
  title: z.string(),
  crm_contact: z.string(),
  rep: z.string(),
  kind: z.enum(ACTIVITY_KINDS),
  date,
  status: z.enum(['open', 'done', 'dropped']),
  note: z.string(),
})

export const tables = {
  reps: { row: rep, key: 'rep', missing: 'unknown_rep' },
  companies: { row: company, key: 'company', missing: 'unknown_company' },
  contacts: { row: contact, key: 'crm_contact', missing: 'unknown_crm_contact' },
  leads: { row: lead, key: 'lead', missing: 'unknown_lead' },
  deals: { row: deal, key: 'deal', missing: 'unknown_deal' },
  discount_requests: { row: discountRequest, key: 'discount_request', missing: 'unknown_discount_request' },
  activities: { row: activity, key: 'activity', missing: 'unknown_activity' },
} as const

export const failures = {
  unknown_rep: 'There is no such sales rep.',
  unknown_company: 'There is no such company.',
  unknown_crm_contact: 'There is no such contact.',
  unknown_lead: 'There is no such lead.',
  unknown_deal: 'There is no such deal.',
  unknown_discount_request: 'There is no such discount request.',
  unknown_activity: 'There is no such activity.',
  outside_territory: 'That lies outside your territory.',
  not_your_company: 'The company belongs to another rep.',
  not_your_lead: 'The lead belongs to another rep.',
  not_your_deal: 'The deal belongs to another rep.',
  not_your_activity: 'The activity belongs to another rep.',
  rep_elsewhere: 'The rep works in another territory than the company.',
  already_owner: 'The rep owns the company already.',
  rep_full: 'The rep owns as many companies as a rep may.',
  lead_closed: 'The lead is converted or lost.',
  lead_step_not_allowed: 'A lead goes from new to contacted to qualified, or is lost.',
  too_many_leads: 'You have as many open leads as a rep may.',
  budget_required: 'A lead is qualified with a budget.',
  budget_too_small: 'The budget is too small for a qualified lead.',
  lead_not_qualified: 'Only a qualified lead can be converted.',
  do_not_contact: 'The person does not want to be contacted.',
  email_taken: 'Another contact has that email address.',
  contact_merged: 'The contact was merged into another.',
  same_contact: 'Both contacts are the same.',
  not_duplicates: 'Duplicates have the same name and company.',
  deal_closed: 'The deal is won or lost.',
  stage_not_allowed: 'The deal cannot move to that stage from where it is.',
  close_date_required: 'A deal in negotiation needs a close date.',
  date_in_past: 'That date has passed.',
  date_too_far: 'That date is too far ahead.',
  negotiation_full: 'The rep has as many deals in negotiation as a rep may.',
  approval_pending: 'A discount request is open.',
  no_recent_contact: 'Nobody of the company was reached lately.',
  not_discountable: 'Deals are discounted in proposal or negotiation.',
  discount_too_high: 'No discount is that high.',
  request_closed: 'The discount request was approved or withdrawn.',
  own_discount: 'You cannot approve a discount request of your own.',
  not_a_workday: 'That day is not a workday.',
  day_full: 'You have as many activities on that day as a rep may.',
  activity_exists: 'Such an activity is planned already.',
  activity_closed: 'The activity is done or was dropped.',
  not_due_yet: 'The activity is not due yet.',
} as const

export type CrmTables = typeof tables
export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type CrmView = DbView<CrmTables>
export type Context = ToolContext<CrmTables, FailureCode>
export type Territory = (typeof TERRITORIES)[number]
export type Rep = RowOf<CrmTables['reps']>
export type Company = RowOf<CrmTables['companies']>
export type CrmContact = RowOf<CrmTables['contacts']>
export type Lead = RowOf<CrmTables['leads']>
export type Deal = RowOf<CrmTables['deals']>
export type DiscountRequest = RowOf<CrmTables['discount_requests']>
export type Activity = RowOf<CrmTables['activities']>

export const tool = toolMaker(tables, failures)
