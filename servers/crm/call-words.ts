import type { CallWords } from '../kernel/define-server.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_companies: {
    goal: 'look up a company',
    answer: 'I found {found:company}[: {companies*{name}, {address}, looked after by {owner}}].',
    elsewhere: ['maps:plan_route', 'maps:get_travel_time', 'maps:nearest_places', 'vehicle:save_destination'],
  },
  list_reps: {
    goal: 'see how a sales team is doing',
    answer: 'There {found=is|are} {found:sales rep}[: {reps*{name} (quota {quota}, won {won}, pipeline {pipeline})}].',
  },
  hand_over_company: {
    goal: 'hand a company over to another rep',
    answer: '{name} now belongs to {rep}, along with {deals:open deal} and {activities:planned activity}.',
    next: ['add_crm_contact'],
  },
  find_crm_contacts: {
    goal: 'look up a contact',
    answer:
      'I found {found:contact}[: {contacts*{name} of {company} ({may_contact?may be contacted|may not be contacted})}].',
  },
  add_crm_contact: {
    goal: 'add a contact to a company',
    answer: '{name} is now a contact of {company}.',
    next: ['plan_activity'],
  },
  merge_crm_contacts: {
    goal: 'merge two contacts',
    answer: 'The two are one contact now: {name}, with {deals:deal} and {activities:activity}.',
    next: ['plan_activity'],
  },
  find_leads: {
    goal: 'see my leads',
    answer: 'There {found=is|are} {found:@status lead}[: {leads*{name} of {firm} in {city}}].',
    elsewhere: ['travel_booking:search_hotels'],
  },
  advance_lead: {
    goal: 'update a lead',
    answer: '{name} of {firm} is now {status}[, with a budget of {budget}].',
    next: ['convert_lead'],
  },
  convert_lead: {
    goal: 'turn a lead into a deal',
    answer: 'It is a deal now: {title}, worth {amount}. Your pipeline stands at {pipeline}.',
    next: ['move_deal', 'plan_activity'],
  },
  find_deals: {
    goal: 'see my deals',
    answer: 'There {found=is|are} {found:deal} in {@stage}, worth {total} together[: {deals*{title} ({value})}].',
  },
  move_deal: {
    goal: 'move a deal to another stage',
    answer: '{title} is now in {stage} with a value of {value}.',
    next: ['discount_deal'],
  },
  discount_deal: {
    goal: 'give a discount on a deal',
    answer:
      '{title} has a discount of {discount} percent[; {requested} percent are waiting for approval]. It is worth {value} now.',
  },
  approve_discount: {
    goal: 'approve a discount',
    answer: 'The discount of {discount} percent for {title} is approved; the deal is worth {value} now.',
  },
  plan_activity: { goal: 'plan a sales activity', answer: '{title} is planned for {date}.' },
  list_activities: {
    goal: 'see my sales activities',
    answer: 'You have {found:activity} that day[: {activities*{title} ({status}[, note: {note}])}].',
  },
  complete_activity: {
    goal: 'record how an activity went',
    answer: '{title} on {date} is now {status}.',
    next: ['move_deal', 'plan_activity'],
  },
}
