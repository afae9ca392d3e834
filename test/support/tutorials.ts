import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { checkout } from './checkout.js'
import { patience } from './patience.js'

/** Runs the commands of a page as a reader types them. */

/** A block of code of a page: its words after the fence, and its text. */
export interface Block {
  readonly info: string
  readonly text: string
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(checkout, 'docs', page), 'utf8')
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info, code]) => ({ info: info!, text: code! }))
}

/** A command that runs while the reader types in another terminal. */
interface Terminal {
  readonly child: ChildProcess
  output(): string
  readonly ended: Promise<number | null>
}

/** A person at a machine: a folder, a home of its own, and the programs in the path. */
export interface Reader {
  readonly folder: string
  /** Types the commands of blocks and compares what they print with the blocks of text after them. */
  follow(blocks: readonly Block[]): Promise<void>
  /** Presses Ctrl-C in all terminals, and waits for their ends. */
  interrupt(): Promise<void>
  /** Waits for the end of the newest terminal. @returns its exit code */
  end(): Promise<number | null>
}

interface ReaderOptions {
  readonly folder: string
  /** Words that the page leaves to the reader, such as INVITATION. */
  readonly placeholders?: Readonly<Record<string, string>>
  /** Changes between the blocks, such as of an address on which no test may listen. */
  readonly afterBlock?: (block: Block) => Promise<void>
  readonly env?: Readonly<Record<string, string>>
}

/** Puts the programs of the checkout into a folder. */
async function programsIn(folder: string): Promise<string> {
  const bin = join(folder, 'bin')
  await mkdir(bin, { recursive: true })
  for (const name of ['node', 'coordinator', 'server', 'lab'])
    await symlink(join(checkout, 'bin', `prove-${name}.cjs`), join(bin, `prove-${name}`))
  return bin
}

export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { folder, placeholders = {}, afterBlock, env = {} } = options
  const bin = await programsIn(folder)
  const terminals: Terminal[] = []
  const open = (command: string): Terminal => {
    const typed = Object.entries(placeholders).reduce((text, [word, value]) => text.replaceAll(word, value), command)
    const child = spawn('bash', ['-euo', 'pipefail', '-c', typed], {
      ...{ cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
      env: {
        ...process.env,
        ...{ HOME: folder, XDG_DATA_HOME: undefined, XDG_CACHE_HOME: undefined, NO_COLOR: '1', FORCE_COLOR: undefined },
        ...{ PATH: [bin, process.env.PATH].join(delimiter), ...env },
      },
    })
    let output = ''
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    return { child, output: () => output, ended: new Promise((resolve) => child.once('close', resolve)) }
  }

  /** Waits until a command has printed lines, or has ended. */
  async function printed(terminal: Terminal, lines: readonly string[]): Promise<void> {
    const lacking = (): string | undefined => lines.find((line) => !terminal.output().includes(line))
    for (const signal = patience(); lacking() !== undefined; await sleep(100)) {
      const ended = terminal.child.exitCode !== null || terminal.child.signalCode !== null
      assert.not(ended || signal.aborted, `"${lacking()}" is not in:\n${terminal.output()}`)
    }
  }

  return {
    folder,
    async follow(blocks) {
      let newest: Terminal | null = null
      for (const block of blocks) {
        const lines = block.text.trimEnd().split('\n')
        if (block.info === 'sh') {
          newest = open(block.text)
          terminals.push(newest)
          const code = await newest.ended
          assert.is(code, 0, `${block.text}\n${newest.output()}`)
        } else if (block.info === 'sh terminal') {
          newest = open(`exec ${block.text}`)
          terminals.push(newest)
        } else if (block.info === 'text') {
          const terminal: Terminal = newest!
          await printed(terminal, lines)
        }
        await afterBlock?.(block)
      }
    },
    async interrupt() {
      for (const { child } of terminals.toReversed()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        process.kill(-child.pid!, 'SIGINT')
      }
      await Promise.all(terminals.map(({ ended }) => ended))
    },
    end: () => terminals.findLast(({ child }) => child.spawnargs.at(-1)!.startsWith('exec '))!.ended,
  }
}
