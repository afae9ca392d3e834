import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  find_channel: {
    clauses: [
      '(tell me|find out) whether a channel called {name} exists',
      'look through our list of channels for {name}',
      'locate the {name} channel',
      'see if somebody has set up a channel for {name}',
      'check the channel list for {name}',
    ],
    goals: ['see if there is a channel for something', 'look for one of our channels', 'know whether a channel exists'],
  },
  find_teammate: {
    clauses: [
      "(pull|bring) up {name}'s profile",
      '(tell me|find out) which workspaces {name} is in',
      'get me the entry for {name}',
      'see if {name} is on our team',
      'find my teammate {name}',
      'check whether {name} is in the chat',
    ],
    goals: ['see who somebody is', 'find a colleague in the chat', 'know which workspace somebody is in'],
  },
  read_channel: {
    clauses: [
      '(go|look) through what people wrote in {channel}',
      '(tell me|find out) what people are saying in {channel}',
      '(pull|bring) up the latest from {channel}',
      'let me see the most recent messages in {channel}',
      'give me the newest messages from {channel}',
      'open {channel} and read it to me',
      'check {channel} for new messages',
      'fill me in on what is new in {channel}',
    ],
    goals: ['see what people wrote', 'read what is new in a channel', 'know what was said in a channel'],
  },
  search_chat_messages: {
    clauses: [
      '(go|look) through the messages for "{words}"',
      '(tell me|find out) where "{words}" came up',
      '(pull|bring) up the message with "{words}"',
      'find what people wrote about "{words}"',
      'get me the message that mentions "{words}"',
      'dig out the message where it says "{words}"',
      'check the chat for "{words}"',
      'locate "{words}" in our messages',
    ],
    goals: ['find something somebody wrote', 'look something up in the chat', 'dig out a message'],
  },
  join_channel: {
    clauses: [
      'sign me up for {channel}',
      'put me in {channel}',
      'subscribe me to {channel}',
      'make sure that I am in {channel}',
      'add me as a member of {channel}',
    ],
    goals: ['join another channel', 'become a member of a channel', 'get into a channel'],
  },
  invite_to_channel: {
    clauses: [
      'make {person} a member of {channel}',
      'put {person} in {channel}',
      'give {person} access to {channel}',
      'make sure that {person} is in {channel}',
      'let {person} into {channel}',
    ],
    goals: ['get somebody into one of our channels', 'bring a colleague into a channel', 'add somebody to a channel'],
  },
  post_chat_message: {
    clauses: [
      'put up "{text}" in {channel}[ and mention {mention}]',
      'put "{text}" in {channel}[ with a mention of {mention}]',
      'say "{text}" in {channel}[ and tag {mention}]',
      'drop "{text}" into {channel}[, tagging {mention}]',
      'share "{text}" with everyone in {channel}[ and mention {mention}]',
      'make a post in {channel} that says "{text}"[ and tags {mention}]',
    ],
    goals: ['tell a channel something', 'write something to the team', 'leave a message for the others'],
  },
  reply_to_chat_message: {
    clauses: [
      'respond to {message}, writing "{text}"',
      'leave "{text}" as an answer to {message}',
      'say "{text}" in reply to {message}',
      'put "{text}" as a reply under {message}',
      '(post|send) "{text}" as a reply to {message}',
    ],
    goals: ['answer somebody in the chat', "reply to somebody's message", 'say something in reply to a message'],
  },
  edit_chat_message: {
    clauses: [
      'make {message} read "{text}"',
      'replace the text of {message} with "{text}"',
      'fix {message} so that it says "{text}"',
      '(rewrite|update) {message} to say "{text}"',
      'turn {message} into "{text}"',
    ],
    goals: ['reword something I wrote', 'correct one of my messages', 'change what one of my messages says'],
  },
  add_reaction: {
    clauses: [
      '(leave|drop) a {emoji} emoji on {message}',
      'give {message} a {emoji} reaction',
      'add a {emoji} reaction to {message}',
      'use the {emoji} emoji to react to {message}',
      'stick a {emoji} emoji on {message}',
    ],
    goals: ['show what I think of a message', 'put an emoji on something', 'leave a reaction'],
  },
  pin_chat_message: {
    clauses: [
      'pin {message} so that nobody misses it',
      'pin {message} where everyone can see it',
      'put a pin on {message}',
      'pin {message} for the whole channel',
      'add {message} to the pinned messages',
    ],
    goals: ['keep a message where everybody sees it', 'keep a message in view', 'put a pin on a message'],
  },
}
