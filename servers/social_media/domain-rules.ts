import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules that the family agreed on for its account.',
  rules: [
    {
      name: 'blocked',
      tool: 'restrict_profile',
      demand: 'confirm',
      text: 'Before somebody is blocked, ask whether to go ahead. Muting needs no question.',
      question: 'They would find none of your posts any more. Shall I go ahead?',
      applies: ({ restriction }: { restriction: string }) => restriction === 'blocked',
    },
    {
      name: 'shared_with_all',
      tool: 'share_post',
      demand: 'confirm',
      text: 'Before a post is shared in the feed, ask whether to go ahead. Stories need no question.',
      question: 'Everybody who follows you would see it. Shall I go ahead?',
      applies: ({ place }: { place: string }) => place === 'feed',
    },
    {
      name: 'appointments',
      tool: 'send_direct_message',
      demand: 'decline',
      text: 'No direct message proposes to meet anybody.',
      reason: 'I may not send a message that proposes to meet.',
      applies: ({ text }: { text: string }) => /\bmeet\b/i.test(text),
    },
    {
      name: 'weekends',
      tool: 'publish_post',
      demand: 'decline',
      text: 'No post tells how a weekend was spent or will be: strangers need not know when nobody is at home.',
      reason: 'Posts about a weekend are not published, so that strangers do not know when nobody is at home.',
      applies: ({ text }: { text: string }) => /\bweekend\b/i.test(text),
    },
    {
      name: 'edited_weekends',
      tool: 'edit_post',
      demand: 'decline',
      text: 'No post is edited so that it tells of a weekend.',
      reason: 'Posts about a weekend are not published, so that strangers do not know when nobody is at home.',
      applies: ({ text }: { text: string }) => /\bweekend\b/i.test(text),
    },
  ],
}
