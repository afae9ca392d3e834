import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

const isNews = (name = ''): boolean => name.endsWith('News')
const isAboutMoney = (text: string): boolean => /\b(?:price|invoice|quarterly number)/i.test(text)

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the company for whoever writes in its chat.',
  rules: [
    {
      name: 'news_channel',
      tool: 'post_chat_message',
      demand: 'decline',
      text: 'No new message is posted in a channel whose name ends in News. The editors write there. Replies are allowed.',
      reason: 'Only the editors post in a channel whose name ends in News.',
      applies: ({ channel }: { channel: string }, { db }) => isNews(db.channels.get(channel)?.name),
    },
    {
      name: 'money_matters',
      tool: 'post_chat_message',
      demand: 'decline',
      text: 'Nothing is posted about prices, invoices or the quarterly numbers. The finance team does that.',
      reason: 'Posts about prices, invoices and the quarterly numbers are for the finance team.',
      applies: ({ text }: { text: string }) => isAboutMoney(text),
    },
    {
      name: 'mention',
      tool: 'post_chat_message',
      demand: 'confirm',
      text: 'Before a post that mentions somebody, ask whether to go ahead: they are notified at once.',
      question: 'They would be notified at once. Shall I go ahead?',
      applies: ({ mention }: { mention?: string }) => mention !== undefined,
    },
    {
      name: 'edited_money_matters',
      tool: 'edit_chat_message',
      demand: 'decline',
      text: 'No message is edited so that it speaks of prices, invoices or the quarterly numbers.',
      reason: 'Messages about prices, invoices and the quarterly numbers are for the finance team.',
      applies: ({ text }: { text: string }) => isAboutMoney(text),
    },
    {
      name: 'laughing',
      tool: 'add_reaction',
      demand: 'decline',
      text: 'The reaction laugh is not used. It was misunderstood too often.',
      reason: 'The reaction laugh is not used here, since it was misunderstood too often.',
      applies: ({ emoji }: { emoji: string }) => emoji === 'laugh',
    },
  ],
}
