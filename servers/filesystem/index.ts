import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { filesystemInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedFilesystem } from './seed.js'
import { analysingTools } from './tools/analysing.js'
import { archiveTools } from './tools/archives.js'
import { directoryTools } from './tools/directories.js'
import { editingTools } from './tools/editing.js'
import { fileTools } from './tools/files.js'
import { findingTools } from './tools/finding.js'
import { linkTools } from './tools/links.js'
import { navigationTools } from './tools/navigation.js'
import { permissionTools } from './tools/permissions.js'
import { readingTools } from './tools/reading.js'
import { sizeAndDateTools } from './tools/size-and-date.js'
import { trashTools } from './tools/trash.js'

/** One user's view of a shared computer: a working directory, files with owners and permissions, links, a trash and a quota. */
export const filesystem = defineEnvironment({
  name: 'filesystem',
  title: 'File system',
  description: 'Files and directories with owners, permissions, links, archives, a trash and a quota.',
  tables,
  entities: {
    file: {
      noun: 'file',
      table: 'nodes',
      label: 'name',
      sayable: true,
      compared: { bytes: 'either', modified: 'either' },
    },
    directory: { noun: 'directory', table: 'nodes', label: 'name', sayable: true },
    link: { noun: 'symbolic link', table: 'nodes', label: 'name', sayable: true },
    trash_item: { noun: 'item', table: 'trash', label: 'name', compared: { bytes: 'either' } },
  },
  failures,
  tools: [
    ...navigationTools,
    ...findingTools,
    ...sizeAndDateTools,
    ...linkTools,
    ...readingTools,
    ...analysingTools,
    ...editingTools,
    ...fileTools,
    ...directoryTools,
    ...trashTools,
    ...permissionTools,
    ...archiveTools,
  ],
  invariants: filesystemInvariants,
  domainRules,
  seed: seedFilesystem,
})
