import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { countOf } from '../../../common/errors/index.js'
import { EnvironmentFolderError } from '../../authoring/errors.js'
import {
  type Draft,
  draftEnvironment,
  type ForeignService,
  IMPORT_LIMITS,
  ImportError,
  readMcpTools,
  readOpenApi,
} from '../../authoring/importing/index.js'
import { writeEnvironmentFolder } from '../../authoring/new-environment.js'
import { loadEnvironments } from '../../catalogue.js'
import { listToolsOf } from '../../kernel/mcp/list-tools.js'
import { interruption, shownFolder } from './options.js'

interface ImportOptions {
  readonly name?: string
  readonly in: string
  readonly only: string[]
}

/** Adds `import`, which drafts an environment from an existing interface. */
export function addImportCommands(program: Command): void {
  const group = program
    .command('import')
    .description('draft an environment from an existing interface; you decide what its tools do')
    .enablePositionalOptions()
  withDraftOptions(group.command('openapi', { isDefault: true }))
    .description('draft from an OpenAPI document, 3.0 or 3.1; the word "openapi" is optional')
    .argument('<document>', 'JSON or YAML file; references to other documents are not fetched')
    .action(async (document: string, options: ImportOptions) => {
      await draft(await readOpenApi(await documentIn(document)), options)
    })
  withDraftOptions(group.command('mcp'))
    .description('draft from the tools of an MCP server, which this command starts and queries over stdin and stdout')
    .argument('<command...>', 'program and its arguments; put options of prove-server before it')
    .passThroughOptions()
    .action(async (command: string[], options: ImportOptions) => {
      const { listedTools: tools, sourceBytes: bytes, serverMs } = IMPORT_LIMITS
      const signal = AbortSignal.any([interruption(), AbortSignal.timeout(serverMs)])
      const listed = await listToolsOf(command, { tools, bytes, signal }).catch((cause: unknown) => {
        const why = signal.aborted ? `no answer within ${serverMs / 1000} seconds` : (cause as Error).message
        throw new ImportError('server_failed', `${command.join(' ')}: ${why}`, { cause })
      })
      await draft(readMcpTools(listed), options)
    })
}

const withDraftOptions = (command: Command): Command =>
  command
    .option('--name <name>', 'name of the environment; default: from the title of the interface')
    .option('--in <folder>', 'folder to create it in', '.')
    .option('--only <text>', 'only calls whose name or path contains this text; repeatable', collected, [])

const collected = (text: string, earlier: string[]): string[] => [...earlier, text]

/** @throws ImportError */
async function documentIn(path: string): Promise<string> {
  const { sourceBytes: most } = IMPORT_LIMITS
  try {
    const file = await open(path)
    try {
      // Reads instead of asking for the size, because a pipe has no size.
      const buffer = Buffer.alloc(most + 1)
      let length = 0
      for (let read = 1; read > 0 && length <= most; length += read)
        read = (await file.read(buffer, length, buffer.length - length)).bytesRead
      if (length > most)
        throw new ImportError('too_large', `${path} has more than ${most} bytes: choose a smaller document`)
      return buffer.toString('utf8', 0, length)
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof ImportError) throw cause
    throw new ImportError('unreadable_document', `${path}: ${(cause as Error).message}`, { cause })
  }
}

async function draft(service: ForeignService, { name, in: parent, only }: ImportOptions): Promise<void> {
  const environments = await loadEnvironments()
  const taken = [...environments.values()].flatMap(({ tools }) => tools.map((tool) => tool.name))
  const made = draftEnvironment(service, { ...(name === undefined ? {} : { name }), only, taken })
  if (environments.has(made.name))
    throw new EnvironmentFolderError(
      'name_taken',
      `an environment ${made.name} already exists: choose another name with --name`,
    )
  const files = await writeEnvironmentFolder(made.name, resolve(parent), made.files)
  process.stdout.write(
    `${[...files, '', ...summary(made, service), '', ...NEXT(shownFolder(parent, made.name))].join('\n')}\n`,
  )
}

function summary({ name, tools, entities, failures, decisions, files }: Draft, { notes }: ForeignService): string[] {
  return [
    `${name}: ${countOf(tools.length, 'undecided tool')}, ${countOf(entities.length, 'table')} without rows, ${countOf(failures.size, 'failure')}.`,
    `DECISIONS.md lists ${countOf(decisions, 'open decision')} and ${countOf(new Set(notes).size, 'omitted or guessed part')}:`,
    '',
    ...files
      .get('DECISIONS.md')!
      .split('\n')
      .filter((line) => /^(## |- )/.test(line)),
  ]
}

const NEXT = (folder: string): string[] => [
  'This command lists the open decisions:',
  '',
  `  prove-server check ${folder}`,
]
