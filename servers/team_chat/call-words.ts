import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_channel: {
    goal: 'find a channel',
    answer: 'I found {found:channel}[: {channels*{name} in {workspace} ({kind}, {joined?joined|not joined yet})}].',
  },
  find_teammate: {
    goal: 'look up a teammate',
    answer: 'I found {found:teammate}[: {teammates*{name}[ ({roles})][, quiet until {quiet_until}]}].',
    wishes: ['find a person'],
  },
  read_channel: {
    goal: 'catch up on a channel',
    answer: 'The latest in {name}: {messages*"{text}" by {person} ({replies:reply})}.',
  },
  search_chat_messages: {
    goal: 'find a message in the chat',
    answer: 'I found {found:message}[: {messages*"{text}" by {person} in {channel}}].',
    wishes: ['search what was written'],
  },
  join_channel: {
    goal: 'join a channel',
    answer: 'You are in {name} now, with {members:member} in all.',
    next: ['post_chat_message', 'invite_to_channel'],
    checks: ['read_channel'],
  },
  invite_to_channel: {
    goal: 'invite somebody to a channel',
    answer: '{person} is now in {name}, which has {members:member}.',
    next: ['post_chat_message'],
    checks: [],
    wishes: ['invite somebody'],
  },
  post_chat_message: {
    goal: 'post something in a channel',
    answer: 'I posted "{text}" in {channel}.',
    next: ['pin_chat_message'],
    checks: [],
    wishes: ['write to somebody'],
  },
  reply_to_chat_message: {
    goal: 'reply in the chat',
    answer: 'I replied "{text}" in {channel}; the thread has {replies:reply} now.',
    checks: [],
  },
  edit_chat_message: {
    goal: 'change a message of mine',
    answer: 'Your message now says: "{text}"',
    checks: [],
  },
  add_reaction: {
    goal: 'react to a message',
    answer: 'I added the {@emoji} emoji to "{text}", which has {reactions:reaction} now.',
    next: ['reply_to_chat_message'],
    said: ['emoji'],
    checks: [],
  },
  pin_chat_message: {
    goal: 'pin a message',
    answer: 'I pinned "{text}" in {channel}, which has {pins:pin} now.',
    next: ['reply_to_chat_message'],
    checks: [],
  },
}
