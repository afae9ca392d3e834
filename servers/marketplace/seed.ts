import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import { CITIES } from '../kernel/gazetteer.js'
import type { SeededRandom } from '../kernel/random.js'
import { shiftInstant } from './rules.js'
import { type Listing, MARKET, type MarketTables, type Member, YOU } from './schema.js'
import { Bidding } from './seed-bidding.js'
import type { SeedBuilder } from './seed-builder.js'
import { seedOffers } from './seed-offers.js'
import { seedSales } from './seed-sales.js'
import * as words from './words.js'

const MEMBERS = 34
const AUCTIONS = 42
const FIXED = 40

/** A market on a Monday morning: auctions that end in minutes or days, offers half-way, sales at every stage. */
export function seedMarketplace({ random, start, home }: SeedContext): SeedRows<MarketTables> {
  const [you, ...rest] = seedMembers(random)
  const members = [{ ...you!, city: home.city }, ...rest]
  const others = members.slice(1)
  const titles = seedTitles(random)
  const unused = [...titles]
  const listings: Listing[] = []
  const used = new Set<string>()
  const list: SeedBuilder['list'] = (given) => {
    const title = given.title ?? takeTitle(unused, titles, given)
    const noun = title.split(' ').at(-1)!.toLowerCase()
    let key = `${noun}-${random.int(10, 99)}`
    while (used.has(key)) key = `${noun}-${random.int(10, 99)}`
    used.add(key)
    const row: Listing = {
      listing: key,
      title,
      search: title.toLowerCase(),
      reserve: null,
      status: 'active',
      bids: 0,
      high: null,
      leader: null,
      leader_limit: null,
      least: null,
      ...given,
    }
    listings.push(row)
    return row
  }
  const builder: SeedBuilder = { random, start, others, list }
  const bidding = new Bidding(builder)
  seedAuctions(builder, bidding)
  seedFixed(builder)
  const offers = seedOffers(builder, listings)
  const sales = seedSales(builder, bidding)
  const rows = listings.map((row) => bidding.standing(row))
  const bound = rows.reduce(
    (sum, row) => sum + (row.leader === YOU && row.status === 'active' ? (row.high ?? 0) : 0),
    0,
  )
  return {
    members: members.map((row) => (row.member === YOU ? { ...row, wallet: bound + random.int(180, 900) } : row)),
    listings: random.shuffle(rows),
    bids: bidding.bids,
    offers,
    sales,
    books: [{ book: MARKET, earned: random.int(500, 5000) }],
  }
}

function seedMembers(random: SeededRandom): Member[] {
  const firsts = random.sample(words.FIRST_NAMES, MEMBERS)
  // Fewer surnames than people: some share one.
  const lasts = random.sample(words.LAST_NAMES, MEMBERS - 8)
  return firsts.map((first, i) => {
    const name = `${first} ${lasts[i % lasts.length]}`
    const ratings = random.int(0, 80)
    return {
      member: i === 0 ? YOU : name.toLowerCase().replace(' ', '-'),
      name,
      city: random.pick(CITIES).city,
      wallet: random.chance(0.15) ? random.int(0, 30) : random.int(200, 2500),
      stars: ratings * 3 + random.int(0, ratings * 2),
      ratings,
    }
  })
}

/** Titles in which most first words occur several times; a few come a second time. */
function seedTitles(random: SeededRandom): string[] {
  const all = words.ARTICLES.flatMap((article) => article.kinds.map((kind) => words.titleOf(kind, article)))
  const once = random.sample(all, 104)
  return [...once.slice(0, 60), ...once.slice(4, 10), ...once.slice(60)]
}

/** The next title of something that is worth the price; an auction may begin far below. */
function takeTitle(
  unused: string[],
  all: readonly string[],
  { price, format }: Pick<Listing, 'price' | 'format'>,
): string {
  if (unused.length === 0) unused.push(...all)
  const fits = (title: string): boolean => {
    const { low, high } = words.ARTICLES.find(({ noun }) => title.endsWith(` ${noun}`))!
    return price <= high && (format === 'auction' || price >= low)
  }
  const found = unused.findIndex(fits)
  return unused.splice(Math.max(found, 0), 1)[0]!
}

const otherSeller = ({ random, others }: SeedBuilder): string => random.pick(others).member

/** Auctions of others and of yours: over, ending within minutes, and running for days. */
function seedAuctions(builder: SeedBuilder, bidding: Bidding): void {
  const { random, start } = builder
  const inMinutes = (minutes: number) => shiftInstant(start, minutes / 1440)
  const auction = (seller: string, minutes: number, price = random.int(2, 60) * 2): Listing =>
    builder.list({
      seller,
      format: 'auction',
      price,
      ends: inMinutes(minutes),
      reserve: random.chance(0.3) ? price + random.int(4, 30) * 2 : null,
    })
  // Won by you: one or two to be paid; in some environments one of them is overdue.
  const late = random.chance(0.15)
  bidding.run(auction(otherSeller(builder), late ? -4000 : -random.int(60, 2500)), 3, YOU, true)
  if (random.chance(0.5)) bidding.run(auction(otherSeller(builder), -random.int(30, 1200)), 2, YOU, true)
  // Lost by you.
  bidding.run(auction(otherSeller(builder), -random.int(30, 900)), 4, undefined, true, YOU)
  for (let i = 0; i < AUCTIONS; i++) {
    const soon = i < 8
    const row = auction(otherSeller(builder), soon ? random.int(2, 20) : random.int(90, 4200))
    const role = i % 10
    if (role === 2) bidding.run(row, random.int(1, 4), YOU)
    else if (role === 3) bidding.run(row, random.int(2, 5), undefined, false, YOU)
    else if (role > 3) bidding.run(row, random.int(1, 5))
  }
  for (const title of words.TREASURES)
    bidding.run(
      builder.list({
        title,
        seller: otherSeller(builder),
        format: 'auction',
        price: random.int(30, 90) * 100,
        ends: inMinutes(random.int(600, 4000)),
      }),
      random.int(0, 3),
    )
  // Yours: two with bids, two without, one unsold, one whose winner does not pay, one whose winner still may.
  for (const count of [3, 1, 0, 0]) bidding.run(auction(YOU, random.int(40, 4000)), count)
  auction(YOU, -random.int(100, 4000))
  bidding.run(auction(YOU, -random.int(3000, 8000)), 3, undefined, true)
  bidding.run(auction(YOU, -random.int(100, 2000)), 2, undefined, true)
}

function seedFixed(builder: SeedBuilder): void {
  const { random, start } = builder
  for (let i = 0; i < FIXED; i++) {
    const price = random.int(3, 70) * 5
    builder.list({
      seller: otherSeller(builder),
      format: 'fixed_price',
      price,
      ends: shiftInstant(start, i < 3 ? -random.int(1, 5) : random.int(1, 29)),
      least: Math.ceil(price * random.pick([0.7, 0.75, 0.8, 0.85, 0.9, 1])),
      status: i >= 3 && i < 6 ? 'withdrawn' : 'active',
    })
  }
  // Yours, withdrawn.
  for (let i = 0; i < 2; i++)
    builder.list({
      seller: YOU,
      format: 'fixed_price',
      price: random.int(3, 40) * 5,
      ends: shiftInstant(start, 9),
      status: 'withdrawn',
    })
}
