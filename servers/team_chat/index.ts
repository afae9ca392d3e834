import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { chatInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedTeamChat } from './seed.js'
import { channelTools } from './tools/channels.js'
import { markTools } from './tools/marks.js'
import { messageTools } from './tools/messages.js'
import { readingTools } from './tools/reading.js'

/** A chat over three workspaces, in which one person is admin of one, member of another and guest of the third. */
export const teamChat = defineEnvironment({
  name: 'team_chat',
  title: 'Team chat',
  description: 'Channels of three workspaces, their members, messages with threads, reactions, pins and mentions.',
  tables,
  entities: {
    channel: { noun: 'channel', table: 'channels', label: 'name' },
    person: { noun: 'teammate', table: 'people', label: 'name' },
    message: { noun: 'message', table: 'messages', label: 'text' },
  },
  failures,
  tools: [...readingTools, ...channelTools, ...messageTools, ...markTools],
  invariants: chatInvariants,
  domainRules,
  seed: seedTeamChat,
})
