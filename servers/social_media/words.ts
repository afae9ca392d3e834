import { wordList } from '../kernel/text.js'

/** The vocabulary that social environments are made of. */

export const FIRST_NAMES = wordList(`
  Nora Theo Mila Jasper Amara Luca Freya Mateo Ingrid Silas Leila Otto Priya Anton Celia Rafael Saskia Tobias Yasmin
  Hector Elsa Bruno Vivian Dario Alma Casper Odette Milan Greta Samir Aiko Kwame Mei Thabo Leilani Arjun Zeynep Omar
  Linh Chidi Paloma Farah Dmitri Sunita`)

export const LAST_NAMES = wordList(`
  Vance Okafor Lindqvist Marchetti Dubois Haddad Novotny Sandoval Bergman Achterberg Iyer Castellano Petrov Whitlock
  Nakamura Ferreira Kowalski Brandt Laurent Mbeki Solberg Ramos Pasternak Quinlan Farrow Aziz Holm Beaumont Tanaka
  Mensah Nguyen Yilmaz Rao Diallo Kaya Zhou`)

/** Subjects that people post about, by hashtag. No subject occurs twice. */
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

/** Hashtags that no user has used yet. */
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
  'Always in the mood for {}',
  'In praise of {}',
  'Today was all about {}',
  'Best part of the week: {}',
  'More people should talk about {}',
  'Once again: {}',
]

/** Replies that fit any post. */
export const REPLIES: readonly string[] = [
  'This made my morning',
  'Please post more of this',
  'Same here since last winter',
  'I could not agree more',
  'Tell us more!',
  'I know exactly what you mean',
  'This is so true',
  'You are not the only one',
  'I had no idea',
  'Best thing I read today',
  'I was just thinking about that',
  'Well said!',
  'That made me laugh',
  'I disagree, but well said',
  'Now I am curious',
  'I want to hear the rest of the story',
]

/** Sentences that a user adds to a published post (`AFTER_POSTS`) or to a reply (`AFTER_REPLIES`). */
export const AFTER_POSTS: readonly string[] = [
  'Photos tomorrow!',
  'Advice is welcome.',
  'More on this next week.',
  'Who is with me?',
  'It only took three tries.',
  'Ask me anything.',
]
export const AFTER_REPLIES: readonly string[] = ['Thank you for posting!', 'Greetings from the coast.', 'Keep it up!']

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

/** Messages to a person whom the writer knows a little. */
export const MESSAGES: readonly string[] = [
  'Are you coming on Friday?',
  'Thanks for the kind words!',
  'Shall we meet at the market on Saturday?',
  'Your last post was lovely.',
  'May I share one of your posts?',
  'See you at the weekend!',
  'It was good to see you again.',
  'Call me when you are free.',
  'I owe you a coffee!',
  'How have you been?',
  'Do you have time for a coffee this week?',
]
/** Messages to a person with whom the writer has not talked yet. */
export const FIRST_MESSAGES: readonly string[] = [
  'I like what you post!',
  'Your last post was lovely.',
  'May I share one of your posts?',
]
/** Messages to a person who writes about `{}`. */
export const MESSAGES_ABOUT: readonly string[] = [
  'I enjoyed your post about {}!',
  'Your post about {} made me smile.',
  'Did you write more about {} somewhere?',
  'I have a question about {}, do you have a minute?',
]
