import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_contact: {
    goal: 'look somebody up in the address book',
    answer: 'I found {contacts#contact}[: {contacts*{name} ({relation}, {status})}].',
    wishes: ['find a person'],
  },
  search_emails: {
    goal: 'find an email',
    answer: 'I found {found:email}[: {emails*"{subject}" ({contact})}].',
    wishes: ['search what was written'],
  },
  read_email: {
    goal: 'read an email',
    answer: '"{subject}", {direction} on {date} ({contact}), says: "{body}"[ Attached: {files}.][ Labels: {labels}.]',
  },
  open_thread: {
    goal: 'go through a conversation',
    answer: 'The conversation has {count:email}: {emails*one {direction} ({name})}.',
  },
  write_draft: {
    goal: 'write an email draft',
    answer: 'The draft "{subject}" to {contact} is saved.',
    next: ['attach_file', 'send_draft'],
    checks: [],
    wishes: ['write to somebody'],
  },
  edit_draft: {
    goal: 'change a draft',
    answer: 'The draft "{subject}" now reads: "{body}"',
    next: ['send_draft', 'attach_file'],
    checks: [],
  },
  attach_file: {
    goal: 'attach a file to a draft',
    answer: '{file} is attached; the draft has {draft_mb} MB now and {free_mb} MB are still free.',
    next: ['send_draft'],
    checks: [],
  },
  send_draft: { goal: 'send a draft', answer: '"{subject}" is on its way to {contact}.', checks: [] },
  discard_draft: { goal: 'throw a draft away', answer: 'The draft "{subject}" is {status}.', checks: [] },
  reply_to_email: {
    goal: 'reply to an email',
    answer: 'Your reply went to {contact} as "{subject}".',
    checks: ['open_thread'],
  },
  forward_email: {
    goal: 'forward an email',
    answer: 'I forwarded it to {contact} as "{subject}".',
    checks: [],
  },
  recall_email: {
    goal: 'recall an email',
    answer: '"{subject}" is called back and is a draft again.',
    next: ['edit_draft', 'discard_draft'],
    checks: [],
  },
  change_label: {
    goal: 'change the labels of an email',
    answer: '"{subject}" now has {labels?these labels|no labels}[: {labels}].',
    next: ['move_email', 'snooze_email'],
    checks: [],
  },
  move_email: {
    goal: 'move an email to another folder',
    answer: 'I moved "{subject}" from the {moved_from} folder to the {folder}.',
    said: ['folder'],
    next: ['change_label'],
    checks: [],
  },
  snooze_email: { goal: 'snooze an email', answer: '"{subject}" is hidden until {until}.', checks: [] },
  set_sender_rule: {
    goal: 'block or allow a sender',
    answer: '{name} is on the {rule} list now, and {emails_moved:email} {emails_moved=was|were} moved.',
    checks: [],
  },
  set_auto_reply: {
    goal: 'set up an automatic reply',
    answer: 'Your automatic reply is {status} until {until} and names {contact}.',
    checks: [],
  },
}
