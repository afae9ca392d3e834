import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { invariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seed } from './seed.js'
import { draftTools } from './tools/drafts.js'
import { filingTools } from './tools/filing.js'
import { readingTools } from './tools/reading.js'
import { sendingTools } from './tools/sending.js'
import { settingsTools } from './tools/settings.js'

export const email = defineEnvironment({
  name: 'email',
  title: 'Email',
  description: 'A personal mailbox with folders, threads, drafts, labels, attachments and an address book.',
  tables,
  entities: {
    contact: { noun: 'contact', table: 'contacts', label: 'name' },
    email: { noun: 'email', table: 'emails', label: 'subject' },
    thread: { noun: 'thread', table: 'threads', label: 'subject' },
    draft: { noun: 'draft', table: 'drafts', label: 'subject' },
    label: { noun: 'label', table: 'labels', sayable: true },
    file: { noun: 'file', table: 'files', sayable: true },
  },
  failures,
  tools: [...readingTools, ...draftTools, ...sendingTools, ...filingTools, ...settingsTools],
  invariants,
  domainRules,
  seed,
})
