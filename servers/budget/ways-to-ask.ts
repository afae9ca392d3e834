import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  list_categories: {
    clauses: [
      '(look up|find out) how much is left in our {group} budget[ for {month}]',
      'give me an overview of our limits for {group} spending[ in {month}]',
      '(check|see) where we stand with our {group} (budget|costs)[ in {month}]',
      '(bring up|get me) the {group} (part|side) of our budget[ for {month}]',
      'see if we are within our limits for {group} spending[ in {month}]',
      'tell me how much of the {group} budget[ for {month}] is (gone|used up)',
      'go through our {group} categories and what is left in each[ for {month}]',
      'let me know how much of our {group} budget[ for {month}] we can still spend',
    ],
    goals: [
      '(know|find out) how much we can still spend',
      '(check|look at) the limits in our household budget',
      'know where we stand with part of our budget',
    ],
  },
  move_between_categories: {
    clauses: [
      '(transfer|reassign) {amount} from {from_category} to {to_category}[, in {month}]',
      'give {to_category} {amount} (more|extra) and take it (out of|from) {from_category}[, for {month}]',
      'cut {from_category} by {amount} (and add that to|and put that into) {to_category}[, for {month}]',
      'free up {amount} from {from_category} for {to_category}[, in {month}]',
      'raise {to_category} by {amount} and take that (from|out of) {from_category}[, for {month}]',
      'put {amount} from {from_category} towards {to_category}[, in the budget for {month}]',
    ],
    goals: [
      'give one part of our budget more and another less',
      'shift some of our budget (around|to where it is needed)',
      'change how our budget is divided',
    ],
  },
  search_expenses: {
    clauses: [
      '(check|find out) if we (paid for|bought) "{text}"[ in {month}]',
      '(pull up|bring up) what is entered under "{text}"[ in {month}]',
      '(go|look) through our spending for "{text}"[ in {month}]',
      'find the expense that (says|mentions) "{text}"[ in {month}]',
      'tell me how much "{text}" (cost us|came to)[ in {month}]',
      '(find|get me) the entry for "{text}" in our books[ in {month}]',
      'see what was (entered|written down) for "{text}"[ in {month}]',
    ],
    goals: [
      '(look something up|find an entry) in our household books',
      '(see|find out) what something cost us',
      'check what was entered for something we bought',
    ],
  },
  record_expense: {
    clauses: [
      '(add|book) {amount} for "{description}" (to|under) {category}, {member} paid',
      'write down that {member} paid {amount} for "{description}", filed under {category}',
      'log "{description}" for {amount} in {category}, (paid for|bought) by {member}',
      'put down {amount} for "{description}" in {category}, (paid for|bought) by {member}',
      '(put|enter) "{description}" in our books at {amount} under {category}, (paid|covered) by {member}',
      'make a note of the {amount} that {member} spent on "{description}", under {category}',
      'note {amount} for "{description}" under {category}, {member} bought it',
    ],
    goals: [
      '(put|enter) something we bought (in|into) our books',
      '(note|write) down what somebody spent',
      'log something that was bought',
    ],
  },
  split_expense: {
    clauses: [
      '(book|assign) {amount} of {expense} to {category} and leave the rest where it is',
      'take {amount} out of {expense} and (file|book) that under {category}',
      'divide {expense}, with {amount} going to {category}',
      '(move|shift) {amount} of {expense} over to {category}',
      'split {amount} off {expense} for {category}',
      'count {amount} of {expense} under {category}',
      'charge {amount} of {expense} to {category} instead',
    ],
    goals: [
      '(divide|split) an expense between two parts of the budget',
      'put part of an expense under another category',
      'share an expense out between two categories',
    ],
  },
  undo_expense: {
    clauses: [
      '(remove|cancel) {expense}, it was (entered|put in) by mistake',
      '(drop|strike) {expense} from our household books',
      '(get rid of|reverse) {expense} in the budget, it should not be there',
      'take {expense} back out, we entered it twice',
      'erase {expense}, that was a mistake',
    ],
    goals: [
      '(remove|delete) something that was entered by mistake',
      'take a wrong entry out of our books',
      'get an expense out of our records',
    ],
  },
  pay_recurring_expense: {
    clauses: [
      'take care of paying {recurring_expense}[ for {month}]',
      '(note|record) that {recurring_expense} (has been|is) paid[ for {month}]',
      'get {recurring_expense} (out of the way|paid)[ for {month}]',
      'put {recurring_expense} down as paid[ for {month}]',
      '(book|log) the payment of {recurring_expense}[ for {month}]',
      'cover {recurring_expense}[ for {month}] from our budget',
      'tick {recurring_expense} off as paid[ for {month}]',
      'pay {recurring_expense}[ for {month}] out of our budget',
    ],
    goals: [
      '(settle|take care of) one of our regular bills',
      'tick off a bill',
      'get one of the household bills out of the way',
    ],
  },
  summarise_month: {
    clauses: [
      '(tell me|let me know) how we did with our money in {month}',
      'go over our spending in {month} as a whole',
      '(look back at|review) the household budget (for|of) {month}',
      '(give me|get me) the totals for {month} in our budget',
      'find out (how much|what) we spent in {month} (altogether|in all)',
      '(put together|pull up) an overview of our finances for {month}',
      'check how {month} (went|turned out) for our budget',
      'break down (our spending|what we spent) in {month}',
    ],
    goals: [
      '(know|find out) how we did with our money in a month',
      '(look back at|review) a month of our budget',
      'get the totals for a month',
    ],
  },
  close_month: {
    clauses: [
      '(wrap up|finalise) {month} in our (budget|household books)',
      '(settle|complete) the accounts (for|of) {month}',
      'finish off {month} in the household books',
      'end {month} in our budget and (take|move) what is left along',
      'lock the budget for {month} so that nothing more (is entered|goes in)',
      'sign {month} off in the household (books|accounts)',
      'close off {month} in our household accounts',
      'bring {month} to a close in our budget',
    ],
    goals: ['(wrap up|finalise) a month in our books', 'close the books on a month', "finish off a month's books"],
  },
  list_savings_goals: {
    clauses: [
      '(give me an overview of|go through) our savings (goals|targets)',
      '(check|look at) how much we have (saved|put aside) so far',
      '(find out|let me know) how close we are to our savings targets',
      'tell me what we are saving up for',
      'bring up everything we are saving for',
      'see (where we stand|how we are getting on) with our savings',
      'tell me how much (we still need|is left to save) for each of our savings goals',
    ],
    goals: ['(know|find out) what we are saving for', 'check how much we have put aside', 'look over our savings'],
  },
  contribute_to_savings_goal: {
    clauses: [
      '(move|transfer) {amount} out of {category} into {savings_goal}',
      'save {amount} from {category} for {savings_goal}',
      'put another {amount} towards {savings_goal}, (taken|coming) from {category}',
      'give {savings_goal} {amount} (out of|from) {category}',
      'take {amount} from {category} and (save it for|put it towards) {savings_goal}',
      'pay {amount} (from|out of) {category} into {savings_goal}',
      'top {savings_goal} up with {amount}( taken|) from {category}',
    ],
    goals: [
      '(save some money|put some money aside) for something we want',
      'pay into our savings',
      'set some money aside',
    ],
  },
  withdraw_from_savings_goal: {
    clauses: [
      'move {amount} back from {savings_goal} to {category}',
      'let {category} have {amount} (out of|from) {savings_goal}',
      '(dip into|draw on) {savings_goal} for {amount} and add that to {category}',
      'free {amount} (of|from) {savings_goal} for {category}',
      'make {amount} of {savings_goal} available for {category}',
      '(pull|draw) {amount} out of {savings_goal} and give it to {category}',
      'spend {amount} of {savings_goal} on {category}',
      'fill up {category} with {amount}( taken|) from {savings_goal}',
    ],
    goals: [
      '(use some of what we saved|dip into our savings)',
      'get money out of our savings',
      'spend part of our savings',
    ],
  },
}
