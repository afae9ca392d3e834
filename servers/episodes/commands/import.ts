import { createReadStream } from 'node:fs'
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
  notesOf,
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
    .description('Draft an environment from an existing interface; you decide what its tools do')
    .enablePositionalOptions()
  withDraftOptions(group.command('openapi', { isDefault: true }))
    .description('Draft from an OpenAPI document, 3.0 to 3.2; the word "openapi" is optional')
    .argument('<document>', 'JSON or YAML file, or - for stdin; nothing is fetched, also no references to other files')
    .action(async (document: string, options: ImportOptions) => {
      await draft(readOpenApi(await documentIn(document)), options)
    })
  withDraftOptions(group.command('mcp'))
    .description('Draft from the tools of an MCP server, which this command starts and queries over stdin and stdout')
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
    .option(
      '--only <text>',
      'only calls whose name or path contains this text; several with commas, or by repeating it',
      collected,
      [],
    )

const collected = (text: string, earlier: string[]): string[] => [
  ...earlier,
  ...text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
]

/** Reads a document from a file or from stdin. @throws ImportError */
async function documentIn(path: string): Promise<string> {
  if (/^https?:\/\//i.test(path))
    throw new ImportError(
      'unreadable_document',
      `${path}: the import fetches nothing; download the document first, such as with curl -L ${path} | prove-server import -`,
    )
  try {
    const source = path === '-' ? process.stdin : createReadStream(path)
    return textIn(await bytesOf(source, path === '-' ? 'stdin' : path))
  } catch (cause) {
    if (cause instanceof ImportError) throw cause
    throw new ImportError('unreadable_document', `${path}: ${(cause as Error).message}`, { cause })
  }
}

/** Reads a stream to its end, up to the limit. A pipe has no size that could be checked first. */
async function bytesOf(source: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const { documentBytes: most } = IMPORT_LIMITS
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    length += chunk.length
    if (length > most)
      throw new ImportError('too_large', `${name} has more than ${most} bytes: choose a smaller document`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Decodes a text by its byte order mark; without one, it is UTF-8. Windows PowerShell redirects into UTF-16. */
function textIn(bytes: Buffer): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
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

function summary(made: Draft, service: ForeignService): string[] {
  const { name, tools, entities, failures, decisions, files } = made
  return [
    `${name}: ${countOf(tools.length, 'undecided tool')}, ${countOf(entities.length, 'table')} without rows, ${countOf(failures.size, 'failure')}.`,
    `DECISIONS.md lists ${countOf(decisions, 'open decision')} and ${countOf(notesOf(service, made).length, 'omitted or guessed part')}:`,
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
