import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the engineering department for its assistant.',
  rules: [
    {
      name: 'new_urgent',
      tool: 'create_issue',
      demand: 'decline',
      text: 'No issue is created with the priority urgent. That is for the team leads.',
      reason: 'Only the team leads create urgent issues.',
      applies: ({ priority }: { priority?: string }) => priority === 'urgent',
    },
    {
      name: 'made_urgent',
      tool: 'set_priority',
      demand: 'decline',
      text: 'No issue is raised to the priority urgent. That is for the team leads.',
      reason: 'Only the team leads make an issue urgent.',
      applies: ({ priority }: { priority: string }) => priority === 'urgent',
    },
    {
      name: 'large_estimate',
      tool: 'estimate_issue',
      demand: 'decline',
      text: 'No issue is estimated at more than 8 points. It is split first.',
      reason: 'An issue may have 8 points at most; a larger one is split first.',
      applies: ({ points }: { points: number }) => points > 8,
    },
    {
      name: 'done',
      tool: 'move_issue',
      demand: 'confirm',
      text: 'Before an issue is moved to done, ask whether it has been tested. Other states need no question.',
      question: 'Has it been tested, and shall I go ahead?',
      applies: ({ status }: { status: string }) => status === 'done',
    },
  ],
}
