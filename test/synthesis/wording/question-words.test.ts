import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { asksFor } from '../../../rollout/episode/index.js'
import { confirmingWords, wordsFor, wordsForAll } from '../../../tasks/synthesis/wording/question-words.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

/** What assistants say, as models really put it, and what the rules hear with the words that tasks have for what is left out. */

type Row = readonly [says: string, asks: boolean, misheard?: 'misheard']

/** `misheard`: the rules decide otherwise than a person would. Where a language model hears (`--user-simulator`), that is what it is for. */
const ASKED: Readonly<Record<string, readonly Row[]>> = {
  'banking.send_payment.payee': [
    ['Who should I send the money to?', true],
    ["I'd be happy to help with that payment! Could you please tell me who the recipient is?", true],
    ['Sure! To whom would you like me to send the 250 euros?', true],
    ["To complete this payment, I'll need the payee.", true],
    ["I'll need the recipient's details.", true, 'misheard'],
    ['Which of your saved payees is this for: Maria Lind or the landlord?', true],
    ["I found several payees. Please confirm which one you'd like to use.", true],
    ['I have sent 250 to Maria Lind. Is there anything else I can help you with?', false],
    ['How much should I send?', false],
    ['I cannot send the payment because no payee was given.', false],
  ],
  'banking.send_payment.amount': [
    ['How much would you like to send?', true],
    ['What amount should I transfer to Maria?', true],
    ["I'm ready to send the payment. Just let me know the sum.", true],
    ['How many euros should it be?', true, 'misheard'],
    ['Please provide the following information:\n- Amount\n- Reference', true],
    ['The payment has been sent. The total amount was 250.', false],
    ['Which account should the money come from?', false],
  ],
  'banking.freeze_card.card': [
    ['Which card would you like me to freeze?', true],
    ['You have two cards, one ending in 42 and one ending in 77. Which one should I freeze?', true],
    ['Could you give me the last four digits?', true, 'misheard'],
    ['I froze your card. Would you like me to order a new one?', false, 'misheard'],
  ],
  'calendar.create_event.start': [
    ['What time should the meeting start?', true],
    ['When would you like to have it?', true],
    ['Should it be in the morning or in the afternoon?', true, 'misheard'],
    ['Who else should be invited?', false],
  ],
  'calendar.create_event.title': [
    ['What should I call the event?', true],
    ['How would you like it to be titled?', true, 'misheard'],
    ['What is the meeting about?', true, 'misheard'],
    ['The event "Lunch" is in your calendar now. Do you need anything else?', false],
  ],
  'email.write_draft.body': [
    ['What would you like the email to say?', true],
    ['Sure, what message do you want to send to Ana?', true],
    ['What should I write?', true, 'misheard'],
  ],
  'email.write_draft.contact': [
    ['Who is the email for?', true],
    ['Whose address should I use?', true, 'misheard'],
  ],
  'email.snooze_email.until': [
    ['Until when should I snooze it?', true],
    ['How long should it be snoozed?', true, 'misheard'],
  ],
  'travel_booking.book_flight.fare': [
    ['Would you prefer a basic, standard or flex ticket?', true],
    ['Which class do you want to fly?', true, 'misheard'],
  ],
  'maps.plan_route.to_address': [
    ['Where do you want to go?', true],
    ["What's the destination?", true],
    ['Should I avoid motorways?', false],
  ],
  'banking.send_payment': [
    ['Of course. Could you share a few more details?', true],
    ['What exactly would you like me to do?', true],
    ['Sure, I can help with a payment. Who should receive it, and how much?', true],
    ['Done! Let me know if you have any further questions.', false],
  ],
  'whether to go on': [
    ['This cancels the booking without a refund. Do you want to continue?', true],
    ['Please confirm.', true],
    ['Are you certain?', true, 'misheard'],
    ['The fee is 30 euros. Is that alright?', true, 'misheard'],
    ['The fee is 30 euros. Is that okay with you?', true],
    ['I have cancelled the booking.', false],
  ],
}

function wordsOf(about: string): readonly string[] {
  const [environmentName, name, field] = about.split('.')
  const environment = CATALOGUE.get(environmentName!)
  const tool = environment?.toolsByName.get(name!)
  if (!environment || !tool) return confirmingWords()
  return field === undefined ? wordsForAll(environment, tool) : wordsFor(environment, tool, field)
}

for (const [about, rows] of Object.entries(ASKED)) {
  test(`what the rules hear of ${about}`, () => {
    const words = wordsOf(about)
    for (const [says, asks, misheard] of rows)
      assert.is(asksFor(says, words), misheard ? !asks : asks, `${says} (${words.join(', ')})`)
  })
}

test.run()
