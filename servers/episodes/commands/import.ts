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
import { shownFolder, stopSignal } from './options.js'

interface ImportOptions {
  readonly name?: string
  readonly in: string
  readonly only: string[]
}

/** What somebody else's program offers, as a world to be filled in. */
export function addImportCommands(program: Command): void {
  const group = program
    .command('import')
    .description('draft a world after an interface that is there: what it is to do remains to be decided')
    .enablePositionalOptions()
  withDraftOptions(group.command('openapi', { isDefault: true }))
    .description('… after an OpenAPI document, 3.0 or 3.1; the word "openapi" may be left out')
    .argument('<document>', 'a file, JSON or YAML; nothing that it refers to is fetched')
    .action(async (document: string, options: ImportOptions) => {
      await draft(await readOpenApi(await documentIn(document)), options)
    })
  withDraftOptions(group.command('mcp'))
    .description('… after the tools of an MCP server, which is started for it and asked over stdin and stdout')
    .argument('<command...>', 'the program and its arguments; options of ours stand before it')
    .passThroughOptions()
    .action(async (command: string[], options: ImportOptions) => {
      const { listedTools: tools, sourceBytes: bytes, serverMs } = IMPORT_LIMITS
      const signal = AbortSignal.any([stopSignal(), AbortSignal.timeout(serverMs)])
      const listed = await listToolsOf(command, { tools, bytes, signal }).catch((cause: unknown) => {
        const why = signal.aborted ? `it said nothing for ${serverMs / 1000} seconds` : (cause as Error).message
        throw new ImportError('server_failed', `${command.join(' ')}: ${why}`, { cause })
      })
      await draft(readMcpTools(listed), options)
    })
}

const withDraftOptions = (command: Command): Command =>
  command
    .option('--name <name>', 'what the world is called; default: by what it is drafted after')
    .option('--in <folder>', 'where its folder goes', '.')
    .option('--only <text>', 'only calls whose name or path contains this; repeatable', collected, [])

const collected = (text: string, earlier: string[]): string[] => [...earlier, text]

/** @throws ImportError */
async function documentIn(path: string): Promise<string> {
  const { sourceBytes: most } = IMPORT_LIMITS
  try {
    const file = await open(path)
    try {
      // Read, not asked for its size: what is no plain file has none.
      const buffer = Buffer.alloc(most + 1)
      let length = 0
      for (let read = 1; read > 0 && length <= most; length += read)
        read = (await file.read(buffer, length, buffer.length - length)).bytesRead
      if (length > most) throw new ImportError('too_large', `${path} has more than ${most} bytes`)
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
    throw new EnvironmentFolderError('name_taken', `there is a world ${made.name} already: name the draft by --name`)
  const files = await writeEnvironmentFolder(made.name, resolve(parent), made.files)
  process.stdout.write(
    `${[...files, '', ...summary(made, service), '', ...NEXT(shownFolder(parent, made.name))].join('\n')}\n`,
  )
}

function summary({ name, tools, entities, failures, decisions, files }: Draft, { notes }: ForeignService): string[] {
  return [
    `${name}: ${countOf(tools.length, 'tool')}, none of which works yet, ${countOf(entities.length, 'table')} without rows, ${countOf(failures.size, 'failure')}. ${countOf(decisions, 'thing')} to decide,`,
    `${new Set(notes).size} left out or guessed. They are in DECISIONS.md:`,
    '',
    ...files
      .get('DECISIONS.md')!
      .split('\n')
      .filter((line) => /^(## |- )/.test(line)),
  ]
}

const NEXT = (folder: string): string[] => ['What is not decided is told by', '', `  prove-server check ${folder}`]
