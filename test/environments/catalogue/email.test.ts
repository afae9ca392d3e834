import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { email as server } from '../../../servers/email/index.js'
import type { Contact, Draft, Email, EmailView } from '../../../servers/email/schema.js'
import { seededRandom } from '../../../servers/kernel/random.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { checkEnvironmentContract, type Provocation } from '../../support/environment-contract.js'

const view = (session: Session): EmailView => session.db as unknown as EmailView

/** A row that the story needs; without one the test could prove nothing. */
function some<R>(row: R | undefined, what: string): R {
  if (row === undefined) throw new Error(`this world has no ${what}`)
  return row
}

const mail = (session: Session, what: string, where: (row: Email) => boolean): string =>
  some(view(session).emails.find(where), what).email

const person = (session: Session, what: string, where: (row: Contact) => boolean): string =>
  some(view(session).contacts.find(where), what).contact

const openDraft = (session: Session): Draft => some(view(session).drafts.find(isOpen), 'open draft')
const isOpen = ({ status }: { status: string }) => status === 'open'
const reachable = ({ active, blocked, relation }: Contact) => active && !blocked && relation !== 'service'
const stranger = (row: Contact) => reachable(row) && row.relation !== 'colleague'
const colleague = (row: Contact) => reachable(row) && row.relation === 'colleague' && row.away_until === null
const inInbox = ({ folder }: Email) => folder === 'inbox'
const contactOf = (session: Session, row: Email) => some(view(session).contacts.get(row.contact), row.contact)

/** An email of the inbox that can be answered. */
const letter = (session: Session): string =>
  mail(session, 'email to answer', (row) => inInbox(row) && reachable(contactOf(session, row)))

/** A call that must succeed on the way to the story's point. */
function done(session: Session, name: string, args: Record<string, unknown>): Readonly<Record<string, unknown>> {
  const result = session.call(name, args)
  if (!result.ok) throw new Error(`${name} ${JSON.stringify(args)}: ${result.code}`)
  return result.output
}

const sendNote = (session: Session): string => {
  const contact = person(session, 'reachable contact', stranger)
  const { draft } = done(session, 'write_draft', { contact, subject: 'Boat tickets', body: 'See you on Monday' })
  return String(done(session, 'send_draft', { draft }).email)
}

const attach: Provocation = (session) => {
  const db = view(session)
  const { draft } = openDraft(session)
  done(session, 'attach_file', { draft, file: some(smallFile(db, draft), 'small file') })
  return ['attach_file', { draft, file: db.drafts.get(draft)!.files.at(-1)! }]
}
const smallFile = (db: EmailView, draft: string): string | undefined =>
  db.files.find(({ file, size_mb }) => size_mb < 4 && !db.drafts.get(draft)!.files.includes(file))?.file

const provoke: Record<string, Provocation> = {
  unknown_contact: () => ['set_sender_rule', { contact: 'nobody-known', rule: 'block' }],
  unknown_email: () => ['read_email', { email: 'mail-0' }],
  unknown_thread: () => ['open_thread', { thread: 'thread-0' }],
  unknown_draft: () => ['send_draft', { draft: 'draft-0' }],
  unknown_label: (session) => ['change_label', { email: letter(session), label: 'dragons', change: 'add' }],
  unknown_file: (session) => ['attach_file', { draft: openDraft(session).draft, file: 'nothing.pdf' }],
  address_inactive: (session) => [
    'write_draft',
    {
      contact: person(session, 'inactive address', ({ active, relation }) => !active && relation !== 'service'),
      subject: 'Old friends',
      body: 'Are you still there',
    },
  ],
  no_reply_address: (session) => [
    'forward_email',
    { email: letter(session), contact: person(session, 'service', ({ relation }) => relation === 'service') },
  ],
  contact_blocked: (session) => {
    const email = mail(session, 'email of a stranger', (row) => inInbox(row) && stranger(contactOf(session, row)))
    done(session, 'set_sender_rule', { contact: view(session).emails.get(email)!.contact, rule: 'block' })
    assert.is(view(session).emails.get(email)?.folder, 'spam')
    return ['move_email', { email, folder: 'inbox' }]
  },
  colleague_protected: (session) => [
    'set_sender_rule',
    { contact: person(session, 'colleague', colleague), rule: 'block' },
  ],
  rule_already_set: (session) => [
    'set_sender_rule',
    { contact: person(session, 'reachable contact', stranger), rule: 'allow' },
  ],
  too_many_drafts: (session) => {
    const args = { contact: person(session, 'colleague', colleague), subject: 'One more', body: 'And another one' }
    while (view(session).drafts.count(isOpen) < 12) done(session, 'write_draft', args)
    return ['write_draft', args]
  },
  draft_closed: (session) => {
    const { draft } = openDraft(session)
    done(session, 'discard_draft', { draft })
    return ['edit_draft', { draft, body: 'Too late' }]
  },
  already_attached: attach,
  attachment_too_large: (session) => {
    const file = some(
      view(session).files.find(({ size_mb }) => size_mb > 25),
      'large file',
    )
    return ['attach_file', { draft: openDraft(session).draft, file: file.file }]
  },
  quota_exceeded: (session) => {
    const email = mail(session, 'email with attachment', (row) => row.size_mb > 0 && row.labels.length === 0)
    if (!inInbox(view(session).emails.get(email)!)) done(session, 'move_email', { email, folder: 'archive' })
    const row = view(session).emails.get(email)!
    const contact = person(session, 'somebody else', (other) => colleague(other) && other.contact !== row.contact)
    const room = () => view(session).mailbox.get('me')!.quota_mb - view(session).mailbox.get('me')!.used_mb
    while (room() >= row.size_mb) done(session, 'forward_email', { email, contact })
    return ['forward_email', { email, contact }]
  },
  email_in_trash: (session) => [
    'reply_to_email',
    { email: mail(session, 'trashed email', ({ folder }) => folder === 'trash'), body: 'Come back' },
  ],
  email_in_spam: (session) => [
    'reply_to_email',
    { email: mail(session, 'spam', ({ folder }) => folder === 'spam'), body: 'No thanks' },
  ],
  email_recalled: (session) => {
    const email = sendNote(session)
    done(session, 'recall_email', { email })
    return ['recall_email', { email }]
  },
  email_confidential: (session) => {
    const email = letter(session)
    if (!view(session).emails.get(email)!.labels.includes('confidential'))
      done(session, 'change_label', { email, label: 'confidential', change: 'add' })
    const { contact } = view(session).emails.get(email)!
    const other = person(session, 'outsider', (row) => stranger(row) && row.contact !== contact)
    return ['forward_email', { email, contact: other }]
  },
  same_contact: (session) => {
    const email = letter(session)
    return ['forward_email', { email, contact: view(session).emails.get(email)!.contact }]
  },
  not_sent_by_you: (session) => ['recall_email', { email: letter(session) }],
  already_opened: (session) => ['recall_email', { email: mail(session, 'opened email', ({ opened }) => opened) }],
  recall_window_closed: (session) => {
    const email = sendNote(session)
    const label = { email: letter(session), label: 'confidential' }
    const carried = view(session).emails.get(label.email)!.labels.includes('confidential')
    // Every writing call takes a minute of virtual time, and the sending itself was one.
    for (let minute = 0; minute < 30; minute++) {
      const add = (minute % 2 === 0) !== carried
      done(session, 'change_label', { ...label, change: add ? 'add' : 'remove' })
    }
    return ['recall_email', { email }]
  },
  already_labelled: (session) => {
    const args = { email: letter(session), label: 'starred', change: 'add' }
    session.call('change_label', args)
    return ['change_label', args]
  },
  not_labelled: (session) => {
    const email = mail(session, 'plain email', (row) => inInbox(row) && row.labels.length === 0)
    return ['change_label', { email, label: 'starred', change: 'remove' }]
  },
  too_many_labels: (session) => {
    const email = mail(session, 'plain email', (row) => inInbox(row) && row.labels.length === 0)
    const [first, second, third, fourth] = view(session).labels.list()
    for (const row of [first, second, third]) done(session, 'change_label', { email, label: row!.label, change: 'add' })
    return ['change_label', { email, label: fourth!.label, change: 'add' }]
  },
  label_locked: (session) => {
    const args = { email: letter(session), label: 'legal-hold' }
    session.call('change_label', { ...args, change: 'add' })
    return ['change_label', { ...args, change: 'remove' }]
  },
  kept_by_label: (session) => {
    const email = letter(session)
    session.call('change_label', { email, label: 'starred', change: 'add' })
    return ['move_email', { email, folder: 'trash' }]
  },
  already_in_folder: (session) => ['move_email', { email: letter(session), folder: 'inbox' }],
  wrong_folder: (session) => ['move_email', { email: sendNote(session), folder: 'inbox' }],
  retention_expired: (session) => [
    'move_email',
    {
      email: mail(
        session,
        'email long in the trash',
        ({ trashed_on }) => trashed_on !== null && trashed_on < '2026-01-31',
      ),
      folder: 'archive',
    },
  ],
  not_in_inbox: (session) => [
    'snooze_email',
    { email: mail(session, 'archived email', ({ folder }) => folder === 'archive'), until: '2026-03-09' },
  ],
  too_many_snoozed: (session) => {
    const until = '2026-03-09'
    const next = () => mail(session, 'inbox', inInbox)
    while (view(session).emails.count(({ folder }) => folder === 'snoozed') < 10)
      done(session, 'snooze_email', { email: next(), until })
    return ['snooze_email', { email: next(), until }]
  },
  date_not_ahead: (session) => ['snooze_email', { email: letter(session), until: '2026-03-02' }],
  date_too_far: (session) => ['snooze_email', { email: letter(session), until: '2026-06-01' }],
  not_a_colleague: (session) => [
    'set_auto_reply',
    { contact: person(session, 'client', stranger), until: '2026-03-09' },
  ],
  deputy_away: (session) => [
    'set_auto_reply',
    {
      contact: person(session, 'absent colleague', (row) => {
        return row.relation === 'colleague' && row.active && row.away_until !== null
      }),
      until: '2026-03-03',
    },
  ],
}

checkEnvironmentContract(server, { provoke, sampleFloor: 0.98, maxResultChars: 450, provokeSeed: 2 })

const open = (seed = 1) => Session.open(generateSeedState(server, seed))

test('keeps the words of a sent email whatever happens afterwards', () => {
  const session = open(3)
  const email = sendNote(session)
  const words = ({ subject, body, contact, thread, at, files }: Email) => ({
    subject,
    body,
    contact,
    thread,
    at,
    files,
  })
  const before = words(view(session).emails.get(email)!)
  const random = seededRandom(5)
  for (let step = 0; step < 150; step++) {
    const tool = random.pick(server.tools)
    const bound = tool.input.shape.email ? { email } : {}
    const args = session.sampleArguments(tool, random, bound)
    if (args) session.call(tool.name, args)
  }
  assert.equal(words(view(session).emails.get(email)!), before)
  assert.equal(session.violations(), [])
})

test('brings a recalled reply back as a draft that continues its thread', () => {
  const session = open()
  const source = letter(session)
  const reply = done(session, 'reply_to_email', { email: source, body: 'I can bring the keys' })
  const { draft } = done(session, 'recall_email', { email: reply.email })
  done(session, 'edit_draft', { draft, body: 'I lost the keys' })
  const again = done(session, 'send_draft', { draft })
  assert.is(again.thread, view(session).emails.get(source)?.thread)
  assert.is.not(again.email, reply.email)
  assert.is(view(session).emails.get(String(again.email))?.body, 'I lost the keys')
})

test('frees the room of a discarded draft and counts labels without the trash', () => {
  const session = open()
  const { draft } = openDraft(session)
  const used = () => view(session).mailbox.get('me')!.used_mb
  const before = used() - view(session).drafts.get(draft)!.size_mb
  done(session, 'attach_file', { draft, file: some(smallFile(view(session), draft), 'small file') })
  done(session, 'discard_draft', { draft })
  assert.is(used(), before)

  const email = mail(session, 'plain email', (row) => inInbox(row) && row.labels.length === 0)
  const { label, emails } = some(
    view(session).labels.find((row) => !row.keeps && row.label !== 'confidential'),
    'plain label',
  )
  const count = () => view(session).labels.get(label)?.emails
  done(session, 'change_label', { email, label, change: 'add' })
  assert.is(count(), emails + 1)
  done(session, 'move_email', { email, folder: 'trash' })
  assert.is(count(), emails)
  done(session, 'move_email', { email, folder: 'inbox' })
  assert.is(count(), emails + 1)
})

test('allowing a blocked sender brings the mail back that blocking moved away', () => {
  const session = open()
  const email = mail(session, 'email of a stranger', (row) => inInbox(row) && stranger(contactOf(session, row)))
  const { contact } = view(session).emails.get(email)!
  done(session, 'set_sender_rule', { contact, rule: 'block' })
  assert.is(view(session).emails.get(email)?.folder, 'spam')
  done(session, 'set_sender_rule', { contact, rule: 'allow' })
  assert.is(view(session).emails.get(email)?.folder, 'inbox')
})

test('the auto-reply answers each sender of the day only once', () => {
  const session = open()
  const args = { contact: person(session, 'colleague', colleague), until: '2026-03-09' }
  const first = done(session, 'set_auto_reply', args).answered as string[]
  assert.ok(first.length > 0)
  const second = done(session, 'set_auto_reply', { ...args, note: 'Back soon' }).answered as string[]
  assert.not.ok(second.some((contact) => first.includes(contact)))
})

test('refuses a date that the calendar does not have', () => {
  const session = open()
  const result = session.call('snooze_email', { email: letter(session), until: '2026-04-31' })
  assert.is(result.ok ? '' : result.code, 'invalid_arguments')
})

test.run()
