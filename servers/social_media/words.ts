import { wordList } from '../kernel/text.js'

/** The vocabulary that social worlds are made of. */

export const FIRST_NAMES = wordList(`
  Nora Theo Mila Jasper Amara Luca Freya Mateo Ingrid Silas Leila Otto Priya Anton Celia Rafael Saskia Tobias Yasmin
  Hector Elsa Bruno Vivian Dario Alma Casper Odette Milan Greta Samir`)

export const LAST_NAMES = wordList(`
  Vance Okafor Lindqvist Marchetti Dubois Haddad Novotny Sandoval Bergman Achterberg Iyer Castellano Petrov Whitlock
  Nakamura Ferreira Kowalski Brandt Laurent Mbeki Solberg Ramos Pasternak Quinlan Farrow Aziz Holm Beaumont`)

/** What people post about, by hashtag. */
export const HASHTAGS: Readonly<Record<string, readonly string[]>> = {
  sourdough: ['the rye loaf', 'a stubborn starter', 'cold fermentation'],
  cycling: ['the canal path', 'a new saddle', 'riding into the wind'],
  astronomy: ['the moons of Jupiter', 'a clear night sky', 'my first star map'],
  pottery: ['a crooked bowl', 'the blue glaze', 'kiln day'],
  chess: ['the London system', 'a rook endgame', 'losing on time'],
  birding: ['the kingfisher', 'an early heron', 'the owl in the park'],
  gardening: ['tomato seedlings', 'the compost heap', 'a lazy hedgehog'],
  jazz: ['the Tuesday session', 'an old trumpet', 'that drum solo'],
  photography: ['fog at sunrise', 'a broken lens', 'film from 1989'],
  hiking: ['the ridge trail', 'wet boots', 'the hut at the lake'],
  knitting: ['a green cardigan', 'the second sock', 'wool from Shetland'],
  coffee: ['a slow pour over', 'the new grinder', 'beans from Rwanda'],
  swimming: ['the outdoor pool', 'cold water', 'the butterfly stroke'],
  woodwork: ['a walnut stool', 'hand planes', 'the third prototype'],
  poetry: ['a poem about rain', 'reading aloud', 'haiku before breakfast'],
  boardgames: ['a four hour game', 'the missing dice', 'rules nobody reads'],
  running: ['the half marathon', 'a sore knee', 'ten slow kilometres'],
  cooking: ['lentil soup', 'burnt garlic', "my aunt's dumplings"],
  cinema: ['the late show', 'black and white films', 'subtitles'],
  sailing: ['a torn sail', 'the harbour at dusk', 'no wind at all'],
  trains: ['the night train', 'a missed connection', 'the old signal box'],
  mending: ['a patched elbow', 'invisible stitches', 'the zip of my tent'],
  languages: ['Finnish cases', 'a hundred new words', 'speaking Catalan'],
  foraging: ['wild garlic', 'chanterelles', 'elderflower syrup'],
}

/** Hashtags that nobody has used yet. */
export const NEW_HASHTAGS: readonly string[] = [
  'kites',
  'origami',
  'fencing',
  'yodelling',
  'marathons',
  'ukulele',
  'tidepools',
  'stargazing',
]

/** Forms of a post; `{}` is what it is about. */
export const TEMPLATES: readonly string[] = [
  'Finally made peace with {}',
  'Nobody warned me about {}',
  'My whole weekend was {}',
  'Small victory today: {}',
  'Still thinking about {}',
  'Five honest notes on {}',
  'Tell me everything about {}',
  'In praise of {}',
  'Day one with {}',
  'Never again: {}',
  'Proof that I survived {}',
  'Unpopular opinion on {}',
]

export const REPLIES: readonly string[] = [
  'This made my morning',
  'Count me in next time',
  'Please post more of this',
  'I tried that once and gave up',
  'Where did you learn it',
  'Looks wonderful from here',
  'Same here since last winter',
  'You are braver than I am',
  'Saving this for later',
  'My neighbour swears by it',
  'That is harder than it looks',
  'We should do this together',
  'I had no idea',
  'Best thing I read today',
  'Now I want to start again',
  'How long did it take you',
  'Greetings from a fellow beginner',
  'I disagree but well said',
  'The picture says it all',
  'Good luck with the next one',
]

export const STORIES: readonly string[] = [
  'Sunrise over the rooftops',
  'Guess who missed the bus',
  'Market day',
  'Rehearsal in ten minutes',
  'The cat has opinions',
  'First snowdrops',
  'Packing for the trip',
  'Tea and thunder',
  'New shelves are up',
  'Open studio tonight',
  'Somebody ate the cake',
  'Back on the ferry',
  'A very small birthday',
  'Queue around the block',
  'Lights out at the library',
  'Monday has begun',
  'Found in the attic',
  'Six kilometres to go',
]

export const MESSAGES: readonly string[] = [
  'Are you coming on Friday',
  'Could you send me the recipe',
  'Thanks for the kind words',
  'Which trail did you take',
  'Let us meet at the market',
  'Your last post was lovely',
  'May I use your photo',
  'Do you still have a spare ticket',
  'I will bring the books',
  'See you at the session',
  'What camera do you use',
  'Happy birthday from all of us',
  'Call me when you are free',
  'The workshop starts at six',
  'I owe you a coffee',
  'Did you find your keys',
]
