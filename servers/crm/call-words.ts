import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_companies: {
    goal: 'look up a company',
    answer: 'I found {found:company}[: {companies*{name}, {address}, looked after by {owner}}].',
    elsewhere: ['maps:plan_route', 'maps:get_travel_time', 'maps:nearest_places', 'vehicle:save_destination'],
    wishes: ['find a company'],
  },
  list_reps: {
    goal: 'see how a sales team is doing',
    answer:
      'There {found=is|are} {found:sales rep}[: {reps*{name}, who has won {won} of a quota of {quota} and has {pipeline} in the pipeline[ and asks for a discount on {requests*{title}}]}].',
    said: ['territory'],
  },
  hand_over_company: {
    goal: 'hand a company over to another rep',
    answer: '{name} now belongs to {rep}, along with {deals:open deal} and {activities:planned activity}.',
    checks: [],
  },
  find_crm_contacts: {
    goal: 'look up a contact',
    answer: 'I found {found:contact}[: {contacts*{name} of {company}[, {email}]{may_contact?|, not to be contacted}}].',
    wishes: ['find a person'],
  },
  add_crm_contact: {
    goal: 'add a contact to a company',
    answer: '{name} is now a contact of {company}.',
    next: ['plan_activity'],
    checks: [],
  },
  merge_crm_contacts: {
    goal: 'merge two records of the same contact',
    answer: 'The two records of {name} are one now[, with {activities:activity} moved over].',
    next: ['plan_activity'],
    checks: [],
  },
  find_leads: {
    goal: 'see my leads',
    answer: 'There {found=is|are} {found:@status lead}[: {leads*{name} of {firm} in {city}}].',
    elsewhere: ['travel_booking:search_hotels', 'maps:list_place_categories'],
    wishes: ['find a person'],
  },
  advance_lead: {
    goal: 'update the status of a lead',
    answer: '{name} of {firm} is now {status}[, with a budget of {@budget}].',
    next: ['convert_lead'],
    checks: [],
  },
  convert_lead: {
    goal: 'turn a lead into a deal',
    answer: 'I opened the deal {title}, worth {amount}; your pipeline stands at {pipeline} now.',
    said: ['lead'],
    next: ['move_deal', 'plan_activity'],
    checks: ['find_deals'],
  },
  find_deals: {
    goal: 'see my deals',
    answer:
      'There {found=is|are} {found:@stage deal}[, worth {total} in all][: {deals*{title} at {value}[ (a discount of {percent} percent is asked for)]}].',
  },
  move_deal: {
    goal: 'move a deal to another stage',
    answer: '{title}, worth {value}, has moved to {stage}.',
    next: ['discount_deal'],
    checks: ['find_deals'],
  },
  discount_deal: {
    goal: 'give a discount on a deal',
    answer:
      '[A discount of {requested} percent is waiting for approval. ]{title} has a discount of {discount} percent now and is worth {value}.',
    checks: [],
  },
  approve_discount: {
    goal: 'approve a discount that a colleague asked for',
    answer: 'The discount of {discount} percent for {title} is approved; the deal is worth {value} now.',
    said: ['discount_request'],
    checks: [],
  },
  plan_activity: {
    goal: 'plan a call or a visit with a customer',
    answer: '{title} is planned for {date}.',
    checks: ['list_activities'],
    wishes: ['plan a date'],
  },
  list_activities: {
    goal: 'see what is on my sales agenda',
    answer: 'You have {found:activity} that day[: {activities*{title} ({status}[, note: {note}])}].',
    wishes: ['find dates'],
  },
  complete_activity: {
    goal: 'record how a call or meeting went',
    answer:
      '{title} is recorded as {@outcome}[ and has moved to {moved_to}][, and {dropped:other activity} with them {dropped=was|were} dropped].',
    next: ['move_deal', 'plan_activity'],
    checks: ['list_activities'],
  },
}
