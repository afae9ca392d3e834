import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { banking } from '../../../servers/banking/index.js'
import { calendar } from '../../../servers/calendar/index.js'
import { filesystem } from '../../../servers/filesystem/index.js'
import { ref, seededRandom } from '../../../servers/kernel/index.js'
import { socialMedia } from '../../../servers/social_media/index.js'
import { waysToRefer } from '../../../tasks/synthesis/making/references.js'
import { compared } from '../../../tasks/synthesis/resolving/superlatives.js'
import { drawPersona } from '../../../tasks/synthesis/wording/persona.js'
import { refer } from '../../../tasks/synthesis/wording/reference-words.js'
import { textOf } from '../../../tasks/synthesis/wording/text-span.js'

const test = suite('ways to mean a thing of a list')

const cards = [
  { name: 'Blue Visa', card: 'card-1', status: 'active', date: '2026-01-04' },
  { name: 'Red Visa', card: 'card-2', status: 'active', date: '2026-01-02' },
  { name: 'Old Visa', card: 'card-3', status: 'active', date: '2026-01-03' },
]
const card = { ...banking.entities.card!, compared: { date: 'either' as const } }
const environment = { ...banking, entities: { ...banking.entities, card } }
const tool = {
  ...banking.toolsByName.get('list_cards')!,
  output: z.object({ cards: z.array(z.object({ card: ref('card'), name: z.string(), date: z.string() })) }),
}
const waysIn = (args: object, more: object) =>
  waysToRefer({ environment, tool, args: { ...args }, output: { cards, ...more } }, 'card', 'card-2', 'Red Visa').map(
    ({ how }) => how,
  )

test('are its name, its place and what it exceeds the others in', () => {
  assert.equal(waysIn({}, {}), ['place', 'label', 'extreme'])
})

test('compare it with others only where all of them are shown', () => {
  assert.equal(waysIn({}, { next_page: 2 }), ['place', 'label'])
  assert.equal(waysIn({ page: 2 }, {}), ['place', 'label'])
  assert.equal(waysIn({}, { found: 4 }), ['place', 'label'])
})

test('are no name that what was copied bears as well', () => {
  const ways = (name: string) =>
    waysToRefer(
      {
        environment: filesystem,
        tool: filesystem.toolsByName.get('copy_directory')!,
        args: { directory: 'logs', into_directory: '/tmp' },
        output: { name, directory: `/tmp/${name}`, copied: 8, bytes: 1953 },
      },
      'directory',
      `/tmp/${name}`,
      name,
    ).map(({ how }) => how)
  assert.equal(ways('logs'), ['only'])
  assert.equal(ways('old-logs'), ['only', 'label'])
})

test('compare only what the environment declares', () => {
  const ways = waysToRefer({ environment: banking, tool, args: {}, output: { cards } }, 'card', 'card-2', 'Red Visa')
  assert.equal(
    ways.map(({ how }) => how),
    ['place', 'label'],
  )
})

test('compare times of day only within one day', () => {
  const events = (date: string) => [
    { title: 'Retro', event: 'event-1', date: '2026-03-10', start: '13:00' },
    { title: 'Retro', event: 'event-2', date, start: '10:30' },
  ]
  const find = calendar.toolsByName.get('find_events')!
  const ways = (date: string) =>
    waysToRefer(
      { environment: calendar, tool: find, args: {}, output: { found: 2, events: events(date) } },
      'event',
      'event-2',
      '',
    ).flatMap((way) => (way.how === 'extreme' ? [`${way.most} ${way.field}`] : []))
  assert.equal(ways('2026-03-10'), ['lowest start'])
  assert.equal(ways('2026-03-20'), ['highest date'])
})

test('compare what a row is about, and nothing else in it', () => {
  const posts = [
    { text: 'Kiln day', post: 'post-1', profile: 'ana-lima', likes: 4 },
    { text: 'Wet boots', post: 'post-2', profile: 'leo-rao', likes: 2 },
  ]
  const search = socialMedia.toolsByName.get('search_posts')!
  const ways = (entity: string, key: string) =>
    waysToRefer({ environment: socialMedia, tool: search, args: {}, output: { found: 2, posts } }, entity, key, '').map(
      ({ how }) => how,
    )
  assert.equal(ways('post', 'post-1'), ['place', 'extreme'])
  assert.equal(ways('profile', 'ana-lima'), ['place'])
})

test('count from the end only where the end is shown', () => {
  const [whole] = waysToRefer({ environment, tool, args: {}, output: { cards } }, 'card', 'card-3', '')
  assert.equal(whole, { how: 'place', noun: 'card', place: 3, of: 3 })
  const [part] = waysToRefer({ environment, tool, args: {}, output: { cards, next_page: 2 } }, 'card', 'card-3', '')
  assert.equal(part, { how: 'place', noun: 'card', place: 3, of: undefined })
})

test('say of stars how many there are, so that the listener finds the row', () => {
  const way = { how: 'extreme', noun: 'hotel', field: 'stars', most: 'highest' } as const
  const context = {
    adjacent: false,
    named: false,
    ahead: false,
    made: false,
    repeated: undefined,
    labelField: 'name',
    article: false,
  } as const
  const said = Array.from({ length: 60 }, (_, i) => {
    const random = seededRandom(i)
    const words = refer(way, context, { before: 'book ', after: '' }, { persona: drawPersona(random), random })
    return textOf(words)
  })
  assert.ok(said.includes('the hotel with the most stars'))
  assert.not.ok(said.some((words) => words.includes('highest')))
  for (const words of said) assert.equal(compared(words, 'hotel')!([{ stars: 3 }, { stars: 5 }]), [1], words)
})

test.run()
