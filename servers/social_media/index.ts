import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { socialInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedSocialMedia } from './seed.js'
import { discoveryTools } from './tools/discovery.js'
import { messageTools } from './tools/messages.js'
import { postTools } from './tools/posts.js'
import { profileTools } from './tools/profiles.js'
import { reactionTools } from './tools/reactions.js'

/** One person's account: a private profile among others, posts and what people do with them, follows, blocks, stories, messages. */
export const socialMedia = defineEnvironment({
  name: 'social_media',
  title: 'Social media',
  description: 'Profiles, posts, replies, likes, follows, blocks, stories and direct messages as one member sees them.',
  tables,
  entities: {
    profile: { noun: 'profile', table: 'profiles', label: 'name', sayable: true, compared: { followers: 'either' } },
    post: { noun: 'post', table: 'posts', label: 'text', compared: { likes: 'either' } },
    hashtag: { noun: 'hashtag', table: 'hashtags', label: 'hashtag', sayable: true },
  },
  failures,
  tools: [...discoveryTools, ...postTools, ...reactionTools, ...profileTools, ...messageTools],
  invariants: socialInvariants,
  domainRules,
  seed: seedSocialMedia,
})
