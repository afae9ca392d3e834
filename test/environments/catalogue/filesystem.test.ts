import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checksumOf, differences } from '../../../servers/filesystem/contents.js'
import { filesystem } from '../../../servers/filesystem/index.js'
import { fitsPattern, isObstacle, walk } from '../../../servers/filesystem/paths.js'
import { type FilesystemView, LIMITS, type Node, type User } from '../../../servers/filesystem/schema.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { succeed } from '../../support/session-calls.js'

type Args = Record<string, unknown>

const diskOf = (session: Session) => session.db as unknown as FilesystemView
const open = (seed: number) => Session.open(generateSeedState(filesystem, seed))
const me = (session: Session): User => diskOf(session).users.get(diskOf(session).session.get('current')!.user)!
const node = (session: Session, fits: (row: Node) => boolean) => diskOf(session).nodes.find(fits)!
const at = (session: Session, path: string) => diskOf(session).nodes.get(path.replace('~', me(session).home))!
const archive = (session: Session) => node(session, ({ kind }) => kind === 'archive').path
const locked = (session: Session) =>
  node(session, ({ path, owner }) => owner === me(session).user && path.endsWith('.lock')).path.replace('.lock', '')
const inDrop = (session: Session) =>
  node(session, ({ parent, owner, mode }) => parent === '/shared/drop' && owner !== me(session).user && mode === 0o666)

function refusal(session: Session, tool: string, args: Args): string {
  const result = session.call(tool, args)
  if (result.ok) throw new Error(`${tool} succeeded: ${JSON.stringify(result.output)}`)
  return result.code
}

const write = (session: Session, directory: string, name: string, text = 'x') =>
  succeed(session, 'write_file', { directory, name, text })

/** Copies photos until there is no room for another. */
function fillUp(session: Session): Args {
  const photo = node(session, ({ kind }) => kind === 'photo')
  let copies = 0
  const args = () => ({ file: photo.path, directory: '~/downloads', new_name: `copy-${copies++}.jpg` })
  while (me(session).quota_bytes - me(session).used_bytes >= photo.bytes) succeed(session, 'copy_file', args())
  return args()
}

checkEnvironmentContract(filesystem, {
  sampleFloor: 1,
  maxResultChars: 800,
  provoke: {
    not_found: () => ['read_file', { file: '~/notes/nothing.txt' }],
    not_a_directory: () => ['change_directory', { directory: '~/notes/todo.txt' }],
    is_a_directory: () => ['copy_file', { file: '~/notes', directory: '/tmp' }],
    permission_denied: () => ['write_file', { directory: '/shared/policies', name: 'mine.txt', text: 'x' }],
    not_owner: () => ['change_file_permissions', { file: '/shared/policies/travel.txt', mode: '666' }],
    sticky_directory: (s) => ['trash_file', { file: inDrop(s).path }],
    already_exists: () => ['write_file', { directory: '~/notes', name: 'todo.txt', text: 'x', if_exists: 'keep' }],
    directory_not_empty: () => ['remove_directory', { directory: '~/logs' }],
    directory_in_use: (s) => {
      succeed(s, 'change_directory', { directory: '~/notes/recipes' })
      return ['trash_directory', { directory: '~/notes' }]
    },
    into_itself: () => ['move_directory', { directory: '~/notes', into_directory: '~/notes/recipes' }],
    same_file: () => ['compare_files', { file: '~/notes/todo.txt', other_file: '~/shortcuts/todo' }],
    name_invalid: () => ['make_directory', { directory: '~/notes', name: 'a/b' }],
    path_too_long: () => ['make_directory', { directory: '~/notes', name: 'n'.repeat(LIMITS.name + 1) }],
    too_deep: (s) => {
      let directory = '/tmp'
      for (let depth = 2; depth <= LIMITS.depth; depth++)
        directory = succeed(s, 'make_directory', { directory, name: 'd' }).directory as string
      return ['make_directory', { directory, name: 'd' }]
    },
    too_many_links: () => ['read_file', { file: '~/shortcuts/mirror' }],
    broken_link: () => ['read_file', { file: '~/shortcuts/plan-2024' }],
    not_a_link: () => ['read_link', { link: '~/notes/todo.txt' }],
    not_text: (s) => ['append_to_file', { file: archive(s), text: 'x' }],
    not_an_archive: () => ['list_archive', { file: '~/notes/todo.txt' }],
    nothing_to_pack: () => ['create_archive', { directory: '~/downloads/unsorted', name: 'empty' }],
    archive_too_large: () => ['create_archive', { directory: '~', name: 'everything' }],
    file_locked: (s) => ['append_to_file', { file: locked(s), text: 'x' }],
    file_too_large: (s) => {
      write(s, '/tmp', 'long.txt')
      const line = { file: '/tmp/long.txt', text: 'y'.repeat(199) }
      while (at(s, '/tmp/long.txt').bytes + 200 <= LIMITS.textBytes) succeed(s, 'append_to_file', line)
      return ['append_to_file', line]
    },
    quota_exceeded: (s) => ['copy_file', fillUp(s)],
    too_many_entries: (s) => {
      while (me(s).used_entries < me(s).quota_entries)
        succeed(s, 'make_directory', { directory: '/tmp', name: `d${me(s).used_entries}` })
      return ['make_directory', { directory: '/tmp', name: 'one-more' }]
    },
    text_not_found: () => ['replace_text', { file: '~/notes/todo.txt', old_text: 'no such words', new_text: 'x' }],
    unknown_trash_item: () => ['restore_from_trash', { trash_item: 'trash-7' }],
    origin_gone: (s) => {
      const made = succeed(s, 'make_directory', { directory: '/tmp', name: 'short-lived' })
      write(s, '/tmp/short-lived', 'a.txt')
      const { trash_item } = succeed(s, 'trash_file', { file: '/tmp/short-lived/a.txt' })
      succeed(s, 'remove_directory', { directory: made.directory })
      return ['restore_from_trash', { trash_item }]
    },
    trash_is_empty: (s) => {
      succeed(s, 'empty_trash', {})
      return ['empty_trash', {}]
    },
  },
})

test('paths lead through dots, home, working directory and links', () => {
  const session = open(1)
  const { home } = me(session)
  const lead = (path: string, follow = true) => {
    const found = walk(diskOf(session), path, follow)
    return isObstacle(found) ? found.code : found.path
  }
  assert.is(lead('~'), home)
  assert.is(lead('.'), home)
  assert.is(lead('notes/./recipes/../todo.txt'), `${home}/notes/todo.txt`)
  assert.is(lead(`${home}//notes/`), `${home}/notes`)
  assert.is(lead('../../../..'), '/')
  assert.is(lead('notes/todo.txt/'), 'not_a_directory')
  assert.is(lead('shortcuts/todo'), `${home}/notes/todo.txt`)
  assert.is(lead('shortcuts/todo', false), `${home}/shortcuts/todo`)
  assert.is(lead('shortcuts/current-project/..'), `${home}/projects`)
  succeed(session, 'change_directory', { directory: 'notes/recipes' })
  assert.is(lead('../todo.txt'), `${home}/notes/todo.txt`)
  assert.is(lead('todo.txt'), 'not_found')
})

test('the working directory moves along with a directory that is moved', () => {
  const session = open(2)
  succeed(session, 'change_directory', { directory: '~/notes/recipes' })
  succeed(session, 'move_directory', { directory: '~/notes', into_directory: '~/downloads' })
  assert.is(succeed(session, 'show_session', {}).directory, `${me(session).home}/downloads/notes/recipes`)
  assert.is(refusal(session, 'list_directory', { directory: '~/notes' }), 'not_found')
  assert.ok((succeed(session, 'list_directory', { directory: '.' }).found as number) >= 3)
})

test('a read-only directory takes nothing until its owner changes the permissions', () => {
  const session = open(3)
  const file = { directory: '~/invoices/2025', name: 'late.txt', text: 'Invoice 1' }
  assert.is(refusal(session, 'write_file', file), 'permission_denied')
  succeed(session, 'change_directory_permissions', { directory: '~/invoices/2025', mode: '755' })
  assert.is(succeed(session, 'write_file', file).status, 'created')
})

test('whoever may not enter a directory reaches nothing in it, whatever the permissions there', () => {
  const session = open(3)
  succeed(session, 'change_directory_permissions', { directory: '~/notes', mode: '600' })
  assert.is(refusal(session, 'read_file', { file: '~/notes/todo.txt' }), 'permission_denied')
  assert.is(refusal(session, 'list_directory', { directory: '~/notes' }), 'permission_denied')
  assert.is(succeed(session, 'find_files', { pattern: 'shopping.txt' }).found, 0)
  succeed(session, 'change_directory_permissions', { directory: '~/notes', mode: '700' })
  assert.is(succeed(session, 'find_files', { pattern: 'shopping.txt' }).found, 1)
})

test('what counts for deleting is the directory, for writing the file, and for both whose sticky place it is', () => {
  const session = open(4)
  const { user, groups } = me(session)
  const readOnly = node(
    session,
    ({ path, name, owner, group }) =>
      path.startsWith('/shared/') && name === 'goals.txt' && owner !== user && groups.includes(group),
  )
  assert.is(refusal(session, 'append_to_file', { file: readOnly.path, text: 'x' }), 'permission_denied')
  succeed(session, 'trash_file', { file: readOnly.path })
  const dropped = inDrop(session)
  succeed(session, 'append_to_file', { file: dropped.path, text: 'x' })
  assert.is(refusal(session, 'rename_file', { file: dropped.path, new_name: 'taken.txt' }), 'sticky_directory')
  write(session, '~', dropped.name)
  assert.is(refusal(session, 'move_file', { file: `~/${dropped.name}`, directory: '/shared/drop' }), 'sticky_directory')
})

test('a lock file locks its neighbour until it is taken away', () => {
  const session = open(5)
  const file = locked(session)
  const { parent, name } = at(session, file)
  assert.is(refusal(session, 'rename_file', { file, new_name: 'b.csv' }), 'file_locked')
  assert.is(refusal(session, 'trash_directory', { directory: parent }), 'file_locked')
  assert.is(refusal(session, 'move_directory', { directory: parent, into_directory: '/tmp' }), 'file_locked')
  succeed(session, 'read_file', { file })
  succeed(session, 'trash_file', { file: `${file}.lock` })
  succeed(session, 'append_to_file', { file, text: 'late,10' })
  write(session, parent, `${name}.lock`)
  assert.is(refusal(session, 'append_to_file', { file, text: 'later,10' }), 'file_locked')
})

test('moving onto a file of that name replaces it, unless that is refused', () => {
  const session = open(6)
  write(session, '/tmp', 'todo.txt', 'the new list')
  const used = me(session).used_bytes
  const old = at(session, '~/notes/todo.txt')
  const move = { file: '/tmp/todo.txt', directory: '~/notes' }
  assert.is(refusal(session, 'move_file', { ...move, if_exists: 'keep' }), 'already_exists')
  assert.is(succeed(session, 'move_file', move).status, 'replaced')
  assert.is(at(session, '~/notes/todo.txt').text, 'the new list\n')
  assert.is(me(session).used_bytes, used - old.bytes)
  assert.is(refusal(session, 'move_file', { ...move, file: '~/notes/todo.txt' }), 'same_file')
})

test('a copy is its maker’s, with what others could write taken away; a copy onto a file leaves its owner', () => {
  const session = open(7)
  const source = inDrop(session)
  const copy = succeed(session, 'copy_file', { file: source.path, directory: '~' })
  const { owner, mode, text } = at(session, copy.file as string)
  assert.equal([owner, mode, text], [me(session).user, 0o644, source.text])
  const { file } = write(session, '~', 'other.txt', 'something else')
  const over = succeed(session, 'copy_file', { file, directory: '/shared/drop', new_name: source.name })
  assert.is(over.status, 'replaced')
  assert.is(at(session, source.path).owner, source.owner)
  assert.is(at(session, source.path).text, 'something else\n')
})

test('the trash goes on counting until it is emptied, and gives back a whole directory', () => {
  const session = open(8)
  const before = me(session)
  const gone = succeed(session, 'trash_directory', { directory: '~/notes' })
  assert.is(me(session).used_bytes, before.used_bytes)
  assert.is(refusal(session, 'read_file', { file: '~/notes/todo.txt' }), 'not_found')
  assert.is(succeed(session, 'find_links', { directory: '~', state: 'broken' }).found, 5)
  const back = succeed(session, 'restore_from_trash', { trash_item: gone.trash_item })
  assert.is(back.entries, gone.entries)
  assert.ok(at(session, '~/notes/todo.txt'))
  const { freed_bytes } = succeed(session, 'empty_trash', {})
  assert.ok((freed_bytes as number) > 900_000)
  assert.is(me(session).used_bytes, before.used_bytes - (freed_bytes as number))
})

test('an archive packs what may be read and unpacks to the same contents', () => {
  const session = open(9)
  const project = node(session, ({ parent, kind }) => parent === `${me(session).home}/projects` && kind === 'directory')
  succeed(session, 'change_directory', { directory: '/tmp' })
  const packed = succeed(session, 'create_archive', { directory: project.path, name: 'bundle' })
  assert.is(packed.file, '/tmp/bundle.zip')
  const listed = succeed(session, 'list_archive', { file: '/tmp/bundle.zip' })
  assert.is(listed.found, packed.files)
  const made = succeed(session, 'extract_archive', { file: 'bundle.zip', directory: '.' })
  assert.is(made.directory, `/tmp/${project.name}`)
  const one = at(session, `/tmp/${project.name}/readme.txt`)
  assert.is(checksumOf(one), checksumOf(at(session, `${project.path}/readme.txt`)))
  assert.is(refusal(session, 'extract_archive', { file: 'bundle.zip', directory: '.' }), 'already_exists')
})

test('moving a file breaks the links to it', () => {
  const session = open(10)
  assert.is(succeed(session, 'read_link', { link: '~/shortcuts/todo' }).state, 'working')
  succeed(session, 'rename_file', { file: '~/notes/todo.txt', new_name: 'done.txt' })
  assert.is(succeed(session, 'read_link', { link: '~/shortcuts/todo' }).state, 'broken')
  assert.is(refusal(session, 'append_to_file', { file: '~/shortcuts/todo', text: 'x' }), 'broken_link')
})

test('a directory that is moved or copied may not grow too deep', () => {
  const session = open(11)
  let deep = '/tmp'
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    deep = succeed(session, 'make_directory', { directory: deep, name }).directory as string
  const lockedIn = at(session, locked(session)).parent
  const project = node(session, ({ name, parent }) => name === 'src' && parent !== lockedIn).parent
  const before = session.stateHash()
  const args = { directory: project, into_directory: deep }
  assert.is(refusal(session, 'move_directory', args), 'too_deep')
  assert.is(refusal(session, 'copy_directory', args), 'too_deep')
  assert.is(session.stateHash(), before)
})

test('writing tells the time of the session, and files are found by date and size', () => {
  const session = open(12)
  write(session, '~/logs', 'new.log', 'one')
  assert.is(at(session, '~/logs/new.log').modified, '2026-03-02 09:00')
  assert.is(at(session, '~/logs').modified, '2026-03-02 09:00')
  const found = succeed(session, 'find_files_by_date', { directory: '~', when: 'since', date: '2026-03-02' })
  assert.is(found.found, 1)
  const large = succeed(session, 'find_files_by_size', { directory: '~', kilobytes: 100 })
  assert.is(
    large.found,
    diskOf(session).nodes.count(({ kind }) => kind === 'photo'),
  )
})

test('patterns take stars and question marks, and texts are compared line by line', () => {
  assert.ok(fitsPattern('budget-old.csv', 'budget*.csv'))
  assert.ok(fitsPattern('a.b.c', '*.?'))
  assert.ok(fitsPattern('anything', '*'))
  assert.not.ok(fitsPattern('budget.csv', 'budget'))
  assert.not.ok(fitsPattern('ab', 'a?b'))
  assert.not.ok(fitsPattern('a'.repeat(60), `${'a*'.repeat(12)}b`))
  assert.equal(differences('a\nb\nc\n', 'a\nc\nd\n'), ['- b', '+ d'])
  assert.equal(differences('', 'x\n'), ['+ x'])
})

test('a whole name usually leads to few files, and a page shows the rest of a long list', () => {
  const session = open(13)
  const names = diskOf(session).nodes.list(({ path, kind }) => kind === 'text' && path.startsWith(me(session).home))
  const few = names.filter(({ name }) => (succeed(session, 'find_files', { pattern: name }).found as number) <= 3)
  assert.ok(few.length >= 0.7 * names.length, `${few.length} of ${names.length}`)
  const files = (page: number) =>
    succeed(session, 'list_directory', { directory: '~/logs', page }).files as { name: string }[]
  assert.is(files(1).length, 5)
  assert.is(files(2).length, 3)
  assert.is(new Set([...files(1), ...files(2)].map(({ name }) => name)).size, 8)
})

test.run()
