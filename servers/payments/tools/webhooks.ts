import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { attempt, LIMITS, retriesLeft } from '../rules.js'
import { tool, WEBHOOK_STATUSES, type Webhook } from '../schema.js'

const listWebhooks = tool({
  name: 'list_webhooks',
  description:
    'List the webhooks that are told of invoices, charges, refunds or payouts, with the number of notices that wait to be delivered.',
  input: z.strictObject({ status: z.enum(WEBHOOK_STATUSES).describe('Only webhooks of this status.').optional() }),
  output: z.object({
    found: z.int(),
    webhooks: z.array(
      z.object({
        name: z.string(),
        webhook: ref('webhook'),
        topic: z.string(),
        status: z.string(),
        pending: z.int(),
      }),
    ),
  }),
  pages: { webhooks: 'short' },
  annotations: { readOnly: true },
  needs: ['notice_sent'],
  sample: ({ db, random, bound }) => ({
    ...(random.chance(0.6) ? { status: random.pick(db.webhooks.list()).status } : {}),
    ...bound,
  }),
  run({ status }, { db }) {
    const webhooks = status === undefined ? db.webhooks.list() : db.webhooks.by('status', status)
    return { found: webhooks.length, webhooks: [...webhooks] }
  },
})

const retryWebhook = tool({
  name: 'retry_webhook',
  description: `Try once more to deliver what is pending at a webhook; success also enables a disabled one. At most ${LIMITS.retries} times a day each; ${LIMITS.webhookFailures} failures in a row disable a webhook.`,
  input: z.strictObject({ webhook: ref('webhook') }),
  output: z.object({
    name: z.string(),
    webhook: ref('webhook'),
    status: z.string(),
    delivered: z.int().describe('Notices delivered by this retry.'),
    pending: z.int(),
    retries_left: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound, today }) {
    const fits = (row: Webhook) => row.pending > 0 && retriesLeft(row, today()) > 0
    const webhook = choose(db.webhooks, random, bound.webhook, fits)
    return webhook ? { webhook: webhook.webhook } : null
  },
  run({ webhook }, { rowOf, db, fail, today }) {
    const row = rowOf('webhooks', webhook)
    if (row.pending === 0) fail('nothing_pending', `Nothing waits to be delivered to ${webhook}.`)
    const date = today()
    const left = retriesLeft(row, date)
    if (left === 0) fail('no_retries_left', `${webhook} was retried ${LIMITS.retries} times today.`)
    const tried = db.webhooks.update(webhook, {
      ...attempt(row, 0),
      retried: date,
      retries: LIMITS.retries - left + 1,
    })
    return { ...tried, delivered: row.pending - tried.pending, retries_left: left - 1 }
  },
})

export const webhookTools = [listWebhooks, retryWebhook]
