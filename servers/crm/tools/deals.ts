import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addDays } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import {
  approvalObstacle,
  dateObstacle,
  discountObstacle,
  LIMITS,
  me,
  moveObstacle,
  NEXT_STAGES,
  netValue,
} from '../rules.js'
import { type Deal, STAGES, tool } from '../schema.js'
import { changeDeal, withdrawRequest } from './pipeline.js'

const findDeals = tool({
  name: 'find_deals',
  description:
    'Find your deals in a stage, or those of another rep, with their value after discount and the total. An open request for a higher discount (in percent) is shown with its deal.',
  input: z.strictObject({
    stage: z.enum(STAGES).describe('Only deals in this stage.'),
    rep: ref('rep', 'Whose deals, from list_reps; yours if not given.').optional(),
  }),
  output: z.object({
    found: z.int(),
    total: z.int(),
    deals: z.array(
      z.object({
        title: z.string(),
        deal: ref('deal'),
        value: z.int(),
        discount_request: ref('discount_request').optional(),
        percent: z.int().optional(),
      }),
    ),
  }),
  pages: { deals: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const { rep: user, territory } = me(db)
    const near = db.reps.by('territory', territory)
    const owner =
      bound.rep ?? (random.chance(0.4) ? random.pick(random.chance(0.7) ? near : db.reps.list()).rep : undefined)
    const deals = db.deals.by('rep', owner ?? user)
    const stage = bound.stage ?? (deals.length > 0 ? random.pick(deals).stage : random.pick(STAGES))
    return { stage, ...(owner === undefined ? {} : { rep: owner }) }
  },
  run({ stage, rep }, { rowOf, db }) {
    const owner = rep === undefined ? me(db) : rowOf('reps', rep)
    const deals = db.deals.by('rep', owner.rep).filter((row) => row.stage === stage)
    return {
      found: deals.length,
      total: deals.reduce((sum, row) => sum + netValue(row), 0),
      deals: deals.map((row) => ({
        title: row.title,
        deal: row.deal,
        value: netValue(row),
        ...(row.request === null
          ? {}
          : { discount_request: row.request, percent: db.discount_requests.get(row.request)!.percent }),
      })),
    }
  },
})

const moveDeal = tool({
  name: 'move_deal',
  description: `Move a deal of yours: discovery, proposal, negotiation, won; one step back, or to lost. Negotiation needs a close date and holds ${LIMITS.negotiations} deals per rep; winning needs somebody of the company reached within ${LIMITS.reachedDays} days and no open discount request. Back in discovery a discount is gone.`,
  input: z.strictObject({
    deal: ref('deal'),
    stage: z.enum(STAGES).describe('The stage that the deal gets.'),
    close_date: common(
      'date',
      z.iso
        .date()
        .optional()
        .describe(`When the deal is expected to be won, YYYY-MM-DD, at most ${LIMITS.closingDays} days ahead.`),
    ),
  }),
  output: z.object({
    title: z.string(),
    deal: ref('deal'),
    stage: z.string(),
    value: z.int(),
    pipeline: z.int().describe('Value of all your open deals.'),
    won: z.int().describe('What you have won this year.'),
  }),
  annotations: { readOnly: false },
  establishes: ['deal_in_negotiation'],
  needs: ['company_reached'],
  sample({ db, random, bound, today }) {
    const able = (row: Deal) =>
      NEXT_STAGES[row.stage].filter(
        (stage) =>
          stage === (bound.stage ?? stage) &&
          STAGES.indexOf(stage) > STAGES.indexOf(row.stage) &&
          moveObstacle(db, today(), row, stage, bound.close_date ?? row.close_date ?? today()) === undefined,
      )
    const deal = choose(db.deals, random, bound.deal, (row) => able(row).length > 0)
    if (!deal) return null
    const stages = able(deal)
    const forward = stages.filter((stage) => stage !== 'lost')
    const stage = random.pick(forward.length > 0 && random.chance(0.8) ? forward : stages)
    const undated = stage === 'negotiation' && deal.close_date === null
    const dated = undated || ((stage === 'negotiation' || stage === 'proposal') && random.chance(0.3))
    const close_date = bound.close_date ?? (dated ? addDays(today(), random.int(7, 80)) : undefined)
    return { deal: deal.deal, stage, ...(close_date === undefined ? {} : { close_date }) }
  },
  run({ deal: key, stage, close_date }, context) {
    const { rowOf, unless, db, today } = context
    const deal = rowOf('deals', key)
    const closing = close_date ?? deal.close_date
    unless(moveObstacle(db, today(), deal, stage, closing))
    unless(close_date === undefined ? undefined : dateObstacle(today(), close_date, LIMITS.closingDays))
    const isClosed = stage === 'won' || stage === 'lost'
    const endsRequest = isClosed || stage === 'discovery'
    if (endsRequest) withdrawRequest(context, deal)
    const moved = changeDeal(context, deal, {
      stage,
      close_date: closing,
      closed_on: isClosed ? today() : null,
      request: endsRequest ? null : deal.request,
      ...(stage === 'discovery' ? { discount: 0, approved: false } : {}),
    })
    const value = netValue(moved)
    if (stage === 'won') db.reps.update(deal.rep, { won: db.reps.get(deal.rep)!.won + value })
    const { pipeline, won } = db.reps.get(deal.rep)!
    return { title: deal.title, deal: key, stage, value, pipeline, won }
  },
})

const discountDeal = tool({
  name: 'discount_deal',
  description: `Set the discount of a deal of yours in proposal or negotiation. Up to ${LIMITS.discountAlone} percent is in force at once; more, up to ${LIMITS.discountMost}, becomes a request that another rep must approve. 0 takes the discount away. An earlier open request is withdrawn.`,
  input: z.strictObject({
    deal: ref('deal'),
    percent: z.int().min(0).max(100).describe('Discount in percent of the value; 0 takes it away.'),
  }),
  output: z.object({
    title: z.string(),
    deal: ref('deal'),
    discount: z.int().describe('In force, in percent.'),
    // Not references: a request of one's own cannot be approved.
    requested: z.int().nullable().describe('Waiting for approval, in percent.'),
    value: z.int(),
  }),
  annotations: { readOnly: false, idempotent: true },
  needs: ['deal_in_negotiation'],
  sample({ db, random, bound }) {
    const percent = bound.percent ?? random.pick([5, 8, 10, 12, 14, 20, 28])
    const deal = choose(
      db.deals,
      random,
      bound.deal,
      (row) => row.discount < percent && row.request === null && discountObstacle(db, row, percent) === undefined,
    )
    return deal ? { deal: deal.deal, percent } : null
  },
  run({ deal: key, percent }, context) {
    const { rowOf, unless, db, nextId } = context
    const deal = rowOf('deals', key)
    unless(discountObstacle(db, deal, percent))
    const isAllowed = percent <= LIMITS.discountAlone || (deal.approved && percent <= deal.discount)
    const open = deal.request === null ? undefined : db.discount_requests.get(deal.request)
    if (!isAllowed && open?.percent === percent) return { ...deal, requested: percent, value: netValue(deal) }
    withdrawRequest(context, deal)
    if (isAllowed) {
      const approved = percent > LIMITS.discountAlone
      const changed = changeDeal(context, deal, { discount: percent, approved, request: null })
      return { ...changed, requested: null, value: netValue(changed) }
    }
    const request = nextId('request')
    db.discount_requests.insert({ discount_request: request, title: deal.title, deal: key, percent, status: 'open' })
    return { ...changeDeal(context, deal, { request }), requested: percent, value: netValue(deal) }
  },
})

const approveDiscount = tool({
  name: 'approve_discount',
  description:
    'Approve the open discount request of another rep for a company of your territory; the discount is then in force.',
  input: z.strictObject({ discount_request: ref('discount_request') }),
  output: z.object({
    title: z.string(),
    discount_request: ref('discount_request'),
    rep: ref('rep'),
    discount: z.int().describe('In force, in percent.'),
    value: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const request = choose(
      db.discount_requests,
      random,
      bound.discount_request,
      (row) => approvalObstacle(db, row) === undefined,
    )
    return request ? { discount_request: request.discount_request } : null
  },
  run({ discount_request: key }, context) {
    const { rowOf, unless, db } = context
    const request = rowOf('discount_requests', key)
    unless(approvalObstacle(db, request))
    db.discount_requests.update(key, { status: 'approved' })
    const deal = changeDeal(context, db.deals.get(request.deal)!, {
      discount: request.percent,
      approved: true,
      request: null,
    })
    return { ...deal, discount_request: key, value: netValue(deal) }
  },
})

export const dealTools = [findDeals, moveDeal, discountDeal, approveDiscount]
