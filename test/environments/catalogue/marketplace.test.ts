import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { saleFee } from '../../../servers/marketplace/escrow.js'
import { firstAnswer, isExpired, sideOf } from '../../../servers/marketplace/haggling.js'
import { marketplace } from '../../../servers/marketplace/index.js'
import {
  CARRIER_TERMS,
  freeFunds,
  increment,
  LIMITS,
  leastOffer,
  nextPrice,
  phaseOf,
  you,
} from '../../../servers/marketplace/rules.js'
import {
  type Listing,
  MARKET,
  type MarketDb,
  type MarketView,
  type Offer,
  type Sale,
  YOU,
} from '../../../servers/marketplace/schema.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { type Call, refusal, succeed } from '../../support/session-calls.js'

/** A world in which an auction that you won is overdue for payment, and a buyer who made you an offer is poor. */
const IN_DEBT = 2

const stateOf = (session: Session) => session.db as unknown as MarketView
const open = (seed: number) => Session.open(generateSeedState(marketplace, seed))

const listing = (session: Session, fits: (row: Listing) => boolean) => stateOf(session).listings.find(fits)!
const isOpen = (session: Session) => (row: Listing) => phaseOf(row, session.now()) === 'open'
const openAuction = (session: Session, fits: (row: Listing) => boolean = () => true) =>
  listing(
    session,
    (row) =>
      row.format === 'auction' &&
      row.seller !== YOU &&
      row.leader !== YOU &&
      row.ends > '2026-03-02T12' &&
      isOpen(session)(row) &&
      nextPrice(row) < 150 &&
      fits(row),
  )
const openFixed = (session: Session, fits: (row: Listing) => boolean = () => true) =>
  listing(
    session,
    (row) =>
      row.format === 'fixed_price' &&
      row.seller !== YOU &&
      row.price <= 200 &&
      isOpen(session)(row) &&
      !stateOf(session).offers.find((offer) => offer.listing === row.listing) &&
      fits(row),
  )
const mine = (session: Session, fits: (row: Listing) => boolean) =>
  listing(session, (row) => row.seller === YOU && fits(row))
const offer = (session: Session, fits: (row: Offer) => boolean) => stateOf(session).offers.find(fits)!
/** An offer that can be answered. */
const answerable = (session: Session, side: 'buyer' | 'seller', fits: (row: Offer) => boolean = () => true) =>
  offer(
    session,
    (row) =>
      row.state === 'open' && sideOf(row) === side && row.turn === side && !isExpired(row, '2026-03-02') && fits(row),
  )
const sale = (session: Session, fits: (row: Sale) => boolean) => stateOf(session).sales.find(fits)!
const bought = (session: Session, fits: (row: Sale) => boolean) =>
  sale(session, (row) => row.buyer === YOU && fits(row))
const sold = (session: Session, fits: (row: Sale) => boolean) => sale(session, (row) => row.seller === YOU && fits(row))

const bid = (row: Listing, amount: number): Call => ['place_bid', { listing: row.listing, amount }]
const buy = (row: Listing): Call => ['buy_listing', { listing: row.listing }]
const propose = (row: Listing, amount: number): Call => ['make_offer', { listing: row.listing, amount }]
const answer = (row: Offer, how: string, amount?: number): Call => [
  'answer_offer',
  { offer: row.offer, answer: how, ...(amount === undefined ? {} : { amount }) },
]
const settle = (row: { readonly sale: unknown }, outcome: string): Call => ['settle_sale', { sale: row.sale, outcome }]
const rate = (row: Sale): Call => ['rate_sale', { sale: row.sale, stars: 4 }]
const put = (title: string, terms: Record<string, unknown> = {}): Call => [
  'create_listing',
  { title, format: 'fixed_price', price: 20, ...terms },
]
/** Pays for whatever you have won. */
const payDebts = (session: Session) => {
  for (const row of stateOf(session).listings.by('leader', YOU))
    if (phaseOf(row, session.now()) === 'won') succeed(session, ...buy(row))
}
const pass = (session: Session, minutes: number) => {
  for (let minute = 0; minute < minutes; minute += 2) {
    const { own_listing } = succeed(session, ...put('Passing Cloud'))
    succeed(session, 'withdraw_listing', { own_listing })
  }
}

checkEnvironmentContract(marketplace, {
  sampleFloor: 1,
  provokeSeed: IN_DEBT,
  provoke: {
    unknown_listing: () => ['get_listing', { listing: 'desk-7' }],
    unknown_offer: () => ['answer_offer', { offer: 'offer-7', answer: 'accept' }],
    unknown_sale: () => ['rate_sale', { sale: 'sale-7', stars: 5 }],
    own_listing: (s) =>
      bid(
        mine(s, (row) => row.format === 'auction'),
        500,
      ),
    not_your_listing: (s) => ['withdraw_listing', { own_listing: openFixed(s).listing }],
    not_an_auction: (s) => bid(openFixed(s), 50),
    not_fixed_price: (s) => propose(openAuction(s), 50),
    auction_closed: (s) =>
      bid(
        listing(s, (row) => row.format === 'auction' && row.seller !== YOU && row.ends < s.now()),
        900,
      ),
    auction_running: (s) => buy(openAuction(s)),
    auction_lost: (s) =>
      buy(listing(s, (row) => row.seller !== YOU && row.leader !== YOU && phaseOf(row, s.now()) === 'won')),
    auction_binding: (s) => {
      const won = listing(s, (row) => row.leader === YOU && phaseOf(row, s.now()) === 'won')
      return settle({ sale: succeed(s, ...buy(won)).sale }, 'cancel')
    },
    listing_gone: (s) => buy(listing(s, (row) => row.seller !== YOU && row.status === 'withdrawn')),
    bid_too_low: (s) => {
      payDebts(s)
      const row = openAuction(s)
      return bid(row, nextPrice(row) - 1)
    },
    already_leading: (s) => {
      payDebts(s)
      const led = listing(s, (row) => row.leader === YOU && row.ends > '2026-03-02T12')
      return bid(led, nextPrice(led))
    },
    payment_overdue: (s) => bid(openAuction(s), nextPrice(openAuction(s))),
    insufficient_funds: (s) => {
      payDebts(s)
      const piano = listing(s, ({ title }) => title === 'Grand Piano')
      return bid(piano, nextPrice(piano))
    },
    offer_too_low: (s) => propose(openFixed(s), leastOffer(openFixed(s)) - 1),
    offer_too_high: (s) => propose(openFixed(s), openFixed(s).price),
    offer_pending: (s) => {
      const { listing: key, bid: last } = answerable(s, 'buyer')
      return ['make_offer', { listing: key, amount: last }]
    },
    offer_closed: (s) => {
      const row = answerable(s, 'seller')
      succeed(s, ...answer(row, 'decline'))
      return answer(row, 'accept')
    },
    offer_expired: (s) =>
      answer(
        offer(s, (row) => isExpired(row, '2026-03-02')),
        'accept',
      ),
    not_your_turn: (s) =>
      answer(
        offer(s, (row) => row.turn === 'seller' && row.buyer === YOU),
        'accept',
      ),
    amount_mismatch: (s) => answer(answerable(s, 'seller'), 'counter'),
    counter_out_of_range: (s) => {
      const row = answerable(s, 'seller')
      return answer(row, 'counter', row.ask)
    },
    buyer_cannot_pay: (s) => {
      const isPoor = (row: Offer) => stateOf(s).members.get(row.buyer)!.wallet < row.bid
      return answer(answerable(s, 'seller', isPoor), 'accept')
    },
    bad_reserve: () => put('Copper Kettle', { format: 'auction', reserve: 20 }),
    listing_exists: (s) => {
      succeed(s, ...put('Copper Kettle'))
      return put('COPPER KETTLE')
    },
    too_many_listings: (s) => {
      for (let i = stateOf(s).listings.by('seller', YOU).filter(isOpen(s)).length; i < LIMITS.openListings; i++)
        succeed(s, ...put(`Copper Kettle ${i}`))
      return put('Copper Kettle')
    },
    has_bids: (s) => ['withdraw_listing', { own_listing: mine(s, (row) => row.bids > 0 && isOpen(s)(row)).listing }],
    not_relistable: (s) => ['relist_listing', { own_listing: mine(s, isOpen(s)).listing, price: 20 }],
    carrier_limit: (s) => {
      const row = sold(s, ({ stage, amount }) => stage === 'paid' && amount > CARRIER_TERMS.post.worth)
      return ['ship_sale', { sale: row.sale, carrier: 'post' }]
    },
    not_the_buyer: (s) =>
      settle(
        sold(s, ({ stage }) => stage === 'shipped'),
        'release',
      ),
    not_the_seller: (s) =>
      settle(
        bought(s, ({ stage }) => stage === 'paid'),
        'refund',
      ),
    wrong_stage: (s) =>
      settle(
        bought(s, ({ stage }) => stage === 'paid'),
        'release',
      ),
    cancel_too_late: (s) => {
      const isFixed = (row: Sale) => stateOf(s).listings.get(row.listing)!.format === 'fixed_price'
      return settle(
        bought(s, (row) => row.stage === 'paid' && isFixed(row)),
        'cancel',
      )
    },
    dispute_too_early: (s) =>
      settle(
        bought(s, ({ stage, paid_at }) => stage === 'paid' && paid_at > '2026-02-25'),
        'dispute',
      ),
    dispute_too_late: (s) =>
      settle(
        bought(s, ({ stage, shipped }) => stage === 'shipped' && shipped! < '2026-02-15'),
        'dispute',
      ),
    too_many_disputes: (s) => {
      const late = (row: Sale) => row.stage === 'shipped' && row.shipped! > '2026-02-20'
      succeed(s, ...settle(bought(s, late), 'dispute'))
      return settle(bought(s, late), 'dispute')
    },
    claim_too_early: (s) =>
      settle(
        sold(s, ({ stage, shipped }) => stage === 'shipped' && shipped! > '2026-02-20'),
        'claim',
      ),
    already_rated: (s) => rate(bought(s, ({ stars }) => stars !== null)),
    rating_closed: (s) => rate(bought(s, ({ closed }) => closed !== null && closed < '2026-01-30')),
  },
})

test('who led before outbids a bid within their limit at once, by one increment', () => {
  const session = open(2)
  payDebts(session)
  const row = openAuction(session, ({ high, leader_limit }) => high !== null && leader_limit! >= high + 15)
  const stated = succeed(session, ...bid(row, nextPrice(row)))
  const answered = nextPrice(row) + increment(nextPrice(row))
  assert.equal([stated.status, stated.high], ['outbid', answered])
  const after = stateOf(session).listings.get(row.listing)!
  assert.is(after.leader, row.leader)
  assert.is(after.bids, row.bids + 2)
})

test('a bid beyond that limit leads and binds its amount, though nothing leaves the wallet', () => {
  const session = open(2)
  payDebts(session)
  const row = openAuction(session, ({ high, leader_limit }) => high !== null && leader_limit! >= high + 5)
  const free = freeFunds(stateOf(session), session.now())
  const { wallet } = you(stateOf(session))
  const amount = row.leader_limit! + 1
  assert.is(succeed(session, ...bid(row, amount)).status, 'leading')
  assert.is(freeFunds(stateOf(session), session.now()), free - amount)
  assert.is(you(stateOf(session)).wallet, wallet)
})

test('an auction closes by the clock', () => {
  const session = open(4)
  payDebts(session)
  const row = listing(
    session,
    ({ ends, seller, leader }) => seller !== YOU && leader !== YOU && ends > session.now() && ends < '2026-03-02T09:30',
  )
  while (session.now() < row.ends) pass(session, 2)
  assert.is(refusal(session, ...bid(row, nextPrice(row))), 'auction_closed')
  const { phase } = succeed(session, 'get_listing', { listing: row.listing })
  assert.is(phase, row.high !== null && row.high >= (row.reserve ?? 0) ? 'won' : 'unsold')
})

test('what was won waits for its payment, which takes the bound money and no more', () => {
  const session = open(IN_DEBT)
  const won = listing(session, (row) => row.leader === YOU && phaseOf(row, session.now()) === 'won')
  const free = freeFunds(stateOf(session), session.now())
  assert.is(succeed(session, ...buy(won)).amount, won.high)
  assert.is(freeFunds(stateOf(session), session.now()), free)
  assert.is(refusal(session, ...buy(won)), 'listing_gone')
})

test('money in escrow reaches the seller less the fee when the buyer releases it', () => {
  const session = open(3)
  const row = bought(session, ({ stage }) => stage === 'shipped')
  const [before, earned] = [stateOf(session).members.get(row.seller)!, stateOf(session).books.get(MARKET)!.earned]
  assert.is(succeed(session, ...settle(row, 'release')).stage, 'completed')
  const after = stateOf(session).members.get(row.seller)!
  assert.is(after.wallet, before.wallet + row.amount - saleFee(row.amount))
  assert.is(stateOf(session).books.get(MARKET)!.earned, earned + saleFee(row.amount))
  const rated = succeed(session, ...rate(row))
  assert.is(rated.ratings, before.ratings + 1)
  assert.is(refusal(session, ...rate(row)), 'already_rated')
})

test('a purchase can be cancelled for an hour, and then not', () => {
  const session = open(5)
  const row = openFixed(session)
  const { wallet } = you(stateOf(session))
  const first = succeed(session, ...buy(row))
  assert.is(first.wallet, wallet - row.price)
  assert.is(succeed(session, ...settle(first as { sale: unknown }, 'cancel')).wallet, wallet)
  const second = succeed(session, ...buy(openFixed(session)))
  pass(session, LIMITS.cancelMinutes)
  assert.is(refusal(session, ...settle(second as { sale: unknown }, 'cancel')), 'cancel_too_late')
})

test('a seller accepts, names a price or declines, by how far the offer is from what they want', () => {
  const row = { price: 100, least: 80 } as Listing
  assert.is(firstAnswer(row, 80).state, 'accepted')
  assert.equal(firstAnswer(row, 64), { bid: 64, ask: 90, state: 'open' })
  assert.is(firstAnswer(row, 63).state, 'declined')
})

test('an offer that is accepted is a purchase, and the listing is gone', () => {
  const session = open(6)
  const row = openFixed(session, ({ least, price }) => least !== null && least < price)
  const stated = succeed(session, ...propose(row, row.least!))
  assert.is(stated.state, 'accepted')
  assert.is(stateOf(session).sales.get(stated.sale as string)!.amount, row.least)
  assert.is(refusal(session, ...buy(row)), 'listing_gone')
})

test('counter-offers come closer, and the other side gives up in the end', () => {
  const session = open(7)
  const row = openFixed(session, ({ least, price }) => least !== null && least >= 0.8 * price && price > 60)
  const start = Math.ceil((row.least! * 4) / 5)
  const made = succeed(session, ...propose(row, start))
  assert.is(made.state, 'open')
  let last = made
  for (let amount = start + 1; last.state === 'open'; amount++) {
    const next = succeed(session, 'answer_offer', { offer: made.offer, answer: 'counter', amount })
    assert.ok((next.ask as number) <= (last.ask as number))
    last = next
  }
  assert.is(last.state, 'declined')
})

test('accepting one offer sells the article, lapses the others and lets it be shipped', () => {
  const session = open(8)
  const rich = (row: Offer) => stateOf(session).members.get(row.buyer)!.wallet >= row.bid
  const shared = (row: Offer) => stateOf(session).offers.by('listing', row.listing).length > 1 && rich(row)
  const chosen = answerable(session, 'seller', shared)
  const stated = succeed(session, ...answer(chosen, 'accept'))
  for (const other of stateOf(session).offers.by('listing', chosen.listing))
    assert.is(other.state, other.offer === chosen.offer ? 'accepted' : 'lapsed')
  const { wallet } = you(stateOf(session))
  const shipped = succeed(session, 'ship_sale', { sale: stated.sale, carrier: 'courier' })
  assert.is(shipped.wallet, wallet - CARRIER_TERMS.courier.cost)
})

test('a refunded article and one whose winner never paid can be listed again', () => {
  const session = open(9)
  const back = succeed(
    session,
    ...settle(
      sold(session, ({ stage }) => stage === 'disputed'),
      'refund',
    ),
  )
  const again = succeed(session, 'relist_listing', { own_listing: back.own_listing, price: 25 })
  assert.is.not(again.own_listing, back.own_listing)
  assert.is(stateOf(session).listings.get(back.own_listing as string)!.status, 'relisted')
  const isWon = (row: Listing) => phaseOf(row, session.now()) === 'won'
  const unpaid = mine(session, (row) => isWon(row) && row.ends < '2026-02-28')
  assert.is(refusal(session, ...buy(unpaid)), 'own_listing')
  succeed(session, 'relist_listing', { own_listing: unpaid.listing, price: 25 })
  const recent = mine(session, (row) => isWon(row) && row.ends > '2026-02-28T12')
  assert.is(refusal(session, 'relist_listing', { own_listing: recent.listing, price: 25 }), 'not_relistable')
})

test('a full title usually finds one listing, and search shows neither your own nor what is over', () => {
  let single = 0
  let titles = 0
  for (let seed = 1; seed <= 8; seed++) {
    const session = open(seed)
    for (const row of stateOf(session).listings.list()) {
      const { found, listings } = succeed(session, 'search_listings', { text: row.title.toUpperCase() })
      const keys = (listings as { listing: string }[]).map((entry) => entry.listing)
      if (row.seller === YOU || !isOpen(session)(row)) assert.not.ok(keys.includes(row.listing))
      else {
        titles++
        if (found === 1) single++
      }
    }
  }
  assert.ok(single >= 0.75 * titles, `${single} of ${titles}`)
})

test('the invariants notice a market that was tampered with', () => {
  const tamper = (change: (db: MarketDb) => void): string[] => {
    const session = open(3)
    change(session.db as unknown as MarketDb)
    return session.violations()
  }
  assert.equal(
    tamper(() => {}),
    [],
  )
  const key = (session: Session, fits: (row: Listing) => boolean) => listing(session, fits).listing
  const finished = bought(open(3), ({ stage, stars }) => stage === 'completed' && stars === null).sale
  for (const stated of [
    tamper((db) => db.members.update(YOU, { wallet: 3 })),
    tamper((db) =>
      db.listings.update(
        key(open(3), ({ bids }) => bids > 0),
        { high: 1 },
      ),
    ),
    tamper((db) => db.listings.update(key(open(3), isOpen(open(3))), { status: 'sold' })),
    tamper((db) => db.bids.update(db.bids.by('place', 2)[0]!.bid, { amount: 1 })),
    tamper((db) => {
      const { bid: first, listing: of } = db.bids.list()[0]!
      db.bids.update(first, { bidder: db.listings.get(of)!.seller })
    }),
    tamper((db) => db.sales.update(finished, { stage: 'paid' })),
    tamper((db) => db.sales.update(finished, { stars: 3 })),
    tamper((db) => db.offers.update(db.offers.by('state', 'open')[0]!.offer, { bid: 9999 })),
  ])
    assert.ok(stated.length > 0)
})

test.run()
