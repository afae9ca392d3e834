import { wordList } from '../kernel/text.js'

/** The vocabulary that chats are made of. */

export const FIRST_NAMES = wordList(`
  Agnes Boris Chloe Dmitri Esme Farid Gemma Hiro Imani Joel Katya Levi Marta Nils Olive Pablo Renata Stefan Tessa Umar
  Veda Wanda Yusuf Zora Anouk Basil Corinne Desmond Edith Fergus`)

export const LAST_NAMES = wordList(`
  Acker Bianchi Cho Drummond Engel Forsyth Gallo Hoffman Ivanova Jarvis Kaplan Leclerc Mercer Nyman Oduya Pratt Quist
  Rhodes Salgado Thorne Ueda Vickers Winslow Yilmaz`)

export const WORKSPACES = wordList('Harbor Summit Atelier Meadow Foundry Beacon Orchard Lantern Compass')

export const CHANNEL_FIRST = wordList(`
  Launch Budget Design Support Hiring Office Data Mobile Sales Travel Security Kitchen Print Research Customer Release`)
export const CHANNEL_SECOND = wordList('Plans Talk Desk Room Lab Notes Crew Help Corner Watch')

export const TOPICS: readonly string[] = [
  'what happens next',
  'questions and answers',
  'everything that is stuck',
  'numbers of the week',
  'ideas before they are good',
  'who does what',
  'things to celebrate',
  'links worth reading',
]

/** What messages are about. */
export const SUBJECTS: readonly string[] = [
  'the spring brochure',
  'the login page',
  'the supplier contract',
  'the blue prototype',
  'the onboarding guide',
  'the coffee machine',
  'the price list',
  'the Lisbon trip',
  'the search index',
  'the new printer',
  'the quarterly numbers',
  'the customer survey',
  'the press kit',
  'the backup server',
  'the team lunch',
  'the release notes',
  'the warehouse keys',
  'the training videos',
  'the invoice template',
  'the parking spaces',
  'the newsletter',
  'the demo script',
  'the window display',
  'the test results',
]

/** Forms of a message; `{}` is what it is about. */
export const TEMPLATES: readonly string[] = [
  'Who is looking after {} this week',
  'We have to move {} to Thursday',
  'Good news about {}',
  'Please have a look at {} before lunch',
  'I am stuck with {}',
  'Somebody asked about {} again',
  'First draft of {} is ready',
  'Let us talk about {} tomorrow',
  'Nobody touch {} until noon',
  'Thanks to everyone who saved {}',
  'Small change to {} from my side',
  'Do we still need {}',
]

export const REPLIES: readonly string[] = [
  'On it',
  'Done as of this morning',
  'I can take that',
  'Can it wait until Friday',
  'Looks good to me',
  'Give me ten minutes',
  'Same problem over here',
  'Let me ask the others',
  'That works for us',
  'I would rather not',
  'Well spotted',
  'Added to the list',
  'The link does not open',
  'Who has the latest version',
  'Agreed with one question',
  'Back after lunch',
  'Fixed and tested',
  'Please keep me posted',
]
