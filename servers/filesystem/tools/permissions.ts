import { z } from 'zod'
import { directoryAt, fileAt } from '../changes.js'
import { matterOf, purposeOf } from '../matter.js'
import { currentUser } from '../paths.js'
import { isFile, octal } from '../rules.js'
import { choose, chooseDirectory, free } from '../sampling.js'
import { type Context, directoryKey, fileKey, modeField, type Node, tool } from '../schema.js'

/** Modes that make sense for a file: programs are run, what is private stays so, the rest is shared or kept from changes. */
function modesOf(file: Node): readonly string[] {
  const matter = matterOf(file)
  const purpose = purposeOf(file)
  // What a team works on stays open to it.
  if (purpose === 'team' || purpose === 'inbox') return ['640', '644', '660', '664', '444']
  if (matter === 'script') return ['700', '750', '755', '644']
  if (matter === 'settings' || matter === 'invoice' || file.name.startsWith('diary')) return ['600', '640', '400']
  return ['600', '640', '644', '660', '664', '444']
}
const DIRECTORY_MODES = ['700', '750', '755', '770', '775'] as const

/** Gives an entry other permission bits; ends the call if it is somebody else's. A directory stays sticky. */
function setMode(context: Context, node: Node, mode: string): { name: string; before: string; mode: string } {
  const { user } = currentUser(context.db)
  if (node.owner !== user) context.fail('not_owner', `${node.path} belongs to ${node.owner}.`)
  context.db.nodes.update(node.path, { mode: Number.parseInt(mode, 8) })
  return { name: node.name, before: octal(node.mode), mode }
}

const changeFilePermissions = tool({
  name: 'change_file_permissions',
  description:
    'Set who may read (4), write (2) and execute (1) a file: a digit each for its owner, its group and others. Only the owner may do that; links are followed.',
  input: z.strictObject({ file: fileKey(), mode: modeField }),
  output: z.object({ name: z.string(), file: fileKey(), before: z.string(), mode: z.string() }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, random, bound } = context
    const { user } = currentUser(db)
    const chosen = choose(context, bound.file, (node) => isFile(node) && node.owner === user)
    const mode =
      chosen && free(random, bound.mode, modesOf(chosen.node), (digits) => digits === octal(chosen.node.mode))
    return chosen && mode !== undefined ? { file: chosen.path, mode } : null
  },
  run({ file, mode }, context) {
    const node = fileAt(context, file)
    return { ...setMode(context, node, mode), file: node.path }
  },
})

const changeDirectoryPermissions = tool({
  name: 'change_directory_permissions',
  description:
    'Set who may list (4), add and remove in (2) and enter (1) a directory: a digit each for its owner, its group and others. Only the owner may do that; what lies in it keeps its own permissions.',
  input: z.strictObject({ directory: directoryKey(), mode: modeField }),
  output: z.object({ name: z.string(), directory: directoryKey(), before: z.string(), mode: z.string() }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, random, bound } = context
    const { user } = currentUser(db)
    const chosen = chooseDirectory(context, bound.directory, (node) => node.owner === user && node.parent !== '/home')
    const mode = chosen && free(random, bound.mode, DIRECTORY_MODES, (digits) => digits === octal(chosen.node.mode))
    return chosen && mode !== undefined ? { directory: chosen.path, mode } : null
  },
  run({ directory, mode }, context) {
    const node = directoryAt(context, directory)
    return { ...setMode(context, node, mode), directory: node.path }
  },
})

export const permissionTools = [changeFilePermissions, changeDirectoryPermissions]
