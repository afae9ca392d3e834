import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  list_accounts: {
    clauses: [
      '(give me an overview of|let me look at|run through) (the|all the) {kind} accounts (I have|I have with you|in my name)',
      'find out (how many|what) {kind} accounts are (open in|under) my name',
      'check whether I have any {kind} accounts',
      'get me (the names of|a rundown of) my {kind} accounts',
      'bring up all my {kind} accounts',
      'tell me about the {kind} accounts I have',
      'let me know what I have in the way of {kind} accounts',
    ],
    goals: [
      '(know|find out) what accounts there are in my name',
      '(go through|look over) my bank accounts',
      'get an overview of my accounts',
    ],
  },
  get_balance: {
    clauses: [
      '(look up|see) (what|how much) is sitting in {account}',
      'let me know where {account} stands (right now|at the moment)',
      'tell me how much is in {account} (at the moment|right now)',
      'tell me (what|how much) I can spend from {account}',
      'find out how much( money|) {account} has (in it|left)',
      'check what is left to spend in {account}',
      'have a look at {account} and tell me how much is in it',
    ],
    goals: [
      '(find out|know) how much money I have in one of my accounts',
      'see what is left in an account',
      '(check|know) whether there is enough in one of my accounts',
    ],
  },
  transfer_money: {
    clauses: [
      'take {amount} out of {from_account} and (put|pay) it into {to_account}',
      'shift {amount}( over|) from {from_account} to {to_account}',
      'make an internal transfer of {amount} from {from_account} (to|into) {to_account}',
      'get {amount} over from {from_account} to {to_account}',
      'have {amount} moved out of {from_account} and into {to_account}',
    ],
    goals: [
      '(shuffle some money between my accounts|shift some money from one of my accounts to another)',
      'top up one of my accounts from another',
      'get some money over to another of my accounts',
    ],
  },
  find_payee: {
    clauses: [
      'see whether {name} is set up as a payee',
      '(find out|check) if I can already (pay|send money to) {name}',
      'look for {name} (in|on) my list of (recipients|people I pay)',
      '(pull up|bring up) the entry for {name} in my recipients',
      'tell me (whether|if) I have {name} saved as a recipient',
      'check my list of payees for {name}',
      'show me what you have saved for the payee {name}',
      'go through my saved recipients and see if {name} is there',
    ],
    goals: [
      'see whether I have somebody saved as a payee',
      '(find|look up) somebody I pay',
      'know if a recipient is already set up',
    ],
  },
  add_payee: {
    clauses: [
      'set things up so I can (pay|send money to) {name}, who banks with {bank}',
      'add {name} as a recipient with an account at {bank}',
      'add {name} at {bank} to (the people I can pay|my recipients)',
      'set {name} up as (a payee|somebody I can pay), with {bank} as the bank',
      'save {name} for future payments, their bank is {bank}',
    ],
    goals: ['(set somebody up|save somebody) as a payee', 'be able to pay somebody new', 'enter a new recipient'],
  },
  send_payment: {
    clauses: [
      'send {amount} to {payee}, taking it from {account}[, with "{note}" as the note]',
      'transfer {amount} out of {account} to {payee}[ and (write|put) "{note}" in the reference]',
      'have {amount} paid to {payee} from {account}[ with the note "{note}"]',
      'make a payment of {amount} to {payee} out of {account}[, with "{note}" as the note]',
      'take {amount} from {account} and (pay|send) it to {payee}[ with "{note}" in the note]',
      'make sure {payee} gets {amount} from {account}[, with the note "{note}"]',
      'use {account} to send {payee} {amount}[ and note "{note}"]',
    ],
    goals: ['(pay|send money to) somebody', 'settle something I owe', '(make a payment|get a payment to somebody)'],
  },
  cancel_payment: {
    clauses: [
      'stop {transaction} from being processed',
      'have {transaction} stopped before it goes through',
      'pull {transaction} back while you still can',
      '(undo|cancel) {transaction}, as long as it is still pending',
      'make sure {transaction} does not (go out|get processed)',
      'stop {transaction} before the money goes out',
    ],
    goals: [
      '(stop|call off) a payment that is still pending',
      'keep a payment from going out',
      'cancel a payment I made',
    ],
  },
  search_transactions: {
    clauses: [
      'check my account history for {name}[, just the {status} transactions]',
      '(bring up|pull up) everything[ {status}] that involves {name}',
      'go through my payments and (pick out|show me) those with {name}[, the {status} ones only]',
      'find the[ {status}] transaction with {name} on my account',
      'find out whether there is a[ {status}] payment to {name}',
      'look up the transaction with {name}[ that is {status}]',
      'see if there is anything[ {status}] with {name} on my account',
      'get me the (payments|transactions) that mention {name}[, just the {status} ones]',
    ],
    goals: [
      'find a payment (in my statements|I made)',
      '(look up|check) a transaction on my account',
      'see what I paid to somebody',
    ],
  },
  dispute_transaction: {
    clauses: [
      '(contest|challenge) {transaction}, (giving|with) {reason} as my reason',
      'tell the bank that I dispute {transaction}, with {reason} as the reason',
      'submit a dispute for {transaction}, the reason is {reason}',
      'start a claim over {transaction} and put {reason} down as the reason',
      'flag {transaction} to the bank with {reason} as the reason',
    ],
    goals: [
      '(contest|object to) a charge on my account',
      'open a dispute with the bank',
      'dispute a payment that is not right',
    ],
  },
  list_cards: {
    clauses: [
      '(see|find out) what cards (were issued|there are) for {account}',
      'bring up the cards that are linked to {account}',
      'run through (all the|the) cards (tied|attached) to {account}',
      'tell me (how many|what) cards use {account}',
      'check which cards take money from {account}',
      'let me see the cards (for|under) {account}',
      'tell me which cards go with {account}',
      'find the cards for {account}',
    ],
    goals: [
      'know which cards belong to one of my accounts',
      '(find out|check) what cards I have',
      'look over the cards on an account',
    ],
  },
  freeze_card: {
    clauses: [
      'make sure nobody can (pay|buy anything) with {card} (for the moment|until I say otherwise)',
      '(suspend|lock) {card} for the time being',
      'put {card} on hold (for now|for a while)',
      '(turn|switch) {card} off until (further notice|I need it)',
      "make sure {card} can't be used for now",
      'have {card} (blocked|suspended) temporarily',
      'pause {card} (for now|for a while)',
    ],
    goals: ['(lock|block) one of my cards for a while', 'keep a card from being used', 'put a card on hold'],
  },
  unfreeze_card: {
    clauses: [
      'unlock {card} (using|with) the PIN {pin}',
      '(switch|turn) {card} back on, my PIN (for it is|is) {pin}',
      'lift the (block|freeze|hold) on {card} with {pin} as the PIN',
      '(enable|activate) {card} again with PIN {pin}',
      'take {card} off hold, (its|the) PIN is {pin}',
      'get {card} working again with the PIN {pin}',
    ],
    goals: ['(use|pay with) a blocked card again', '(unlock|reactivate) one of my cards', 'get a card working again'],
  },
  set_card_limit: {
    clauses: [
      'allow (no more than|at most) {limit} a day on {card}',
      'set the daily (maximum|cap) for {card} at {limit}',
      'make sure that no more than {limit} a day (goes through|can be spent with) {card}',
      'give {card} a daily limit of {limit}',
      '(restrict|limit) {card} to {limit} (per day|a day)',
    ],
    goals: [
      'change how much a card may spend (in a day|a day)',
      'set a (cap|maximum) for one of my cards',
      'adjust how much can be spent on a card in a day',
    ],
  },
  report_card_lost: {
    clauses: [
      'let the bank know that {card} (is missing|has gone missing)',
      '(have|get) {card} replaced, I (lost it|have lost it)',
      'report {card} missing and send me another',
      'tell them {card} is gone and (get me|ask for) a new one',
      'mark {card} as lost (so that I get a replacement|and have a new one sent)',
      'order a new card to replace {card}, which I lost',
      'put {card} down as lost',
    ],
    goals: [
      '(tell the bank|report) that I lost a card',
      'get a replacement for a card I lost',
      'deal with a lost card',
    ],
  },
  create_standing_order: {
    clauses: [
      'have {amount} go from {account} to {payee} {frequency}, (as a standing order|automatically)',
      'set up a {frequency} payment of {amount} from {account} to {payee}',
      'make sure {payee} gets {amount} {frequency} from {account}',
      'arrange for {amount} to go from {account} to {payee} {frequency}',
      'start a {frequency} transfer of {amount} to {payee}, paid (from|out of) {account}',
    ],
    goals: [
      '(have|get) something paid regularly',
      'arrange a regular payment',
      'pay somebody automatically on a regular basis',
    ],
  },
  list_standing_orders: {
    clauses: [
      'tell me which regular payments (come|go) out of {account}',
      'check what gets paid (automatically|on a regular basis) from {account}',
      'bring up the recurring payments (set up on|from) {account}',
      'show me (the|all the) standing orders set up on {account}',
      'find out what is regularly paid from {account}',
      'get me (an overview|a rundown) of the regular payments (on|from) {account}',
      'show me what goes out of {account} regularly',
    ],
    goals: [
      'see what is paid regularly from one of my accounts',
      '(check|go over) my regular payments',
      'know what gets paid automatically',
    ],
  },
  cancel_standing_order: {
    clauses: [
      'get rid of {standing_order}',
      'discontinue {standing_order}',
      'have {standing_order} deleted',
      'make sure nothing more is paid under {standing_order}',
      'remove {standing_order} from my account',
    ],
    goals: [
      '(stop|end) one of my regular payments',
      'get rid of a standing order',
      'stop something from being paid automatically',
    ],
  },
}
