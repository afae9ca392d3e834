/** How ranks are started on other machines than this one: `trainer.launch` of run.yaml. */
export interface TrainerLaunch {
  /** With a command for each. Empty: one command starts all. */
  readonly hosts: readonly string[]
  /** Machines, where no hosts are named. */
  readonly nodes?: number | undefined
  readonly command: readonly string[]
  /** Where machines meet, `host:port`. */
  readonly endpoint?: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** A rank, or the coordinator, that is not heard of for so long is gone. */
  readonly silenceMs: number
}

/** Arguments of the interpreter before `-m prove_trainer`, for so many ranks on this machine. */
export const torchrun = (processes: number): readonly string[] =>
  // A launcher of one rank would add nothing but its own start.
  processes > 1 ? ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', String(processes)] : []

/** What the ranks of one life are, on all machines. */
export interface LaunchedProgram {
  readonly launch: TrainerLaunch
  /** Name of the life: of the rendezvous, too, so that no agent of an earlier one takes part. */
  readonly life: string
  readonly python: string
  /** What follows `python -m torch.distributed.run ...`. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Ranks of a machine. */
  readonly processes: number
}

/** Where agents of torchrun meet unless the launch says it: torch's own default. */
const RENDEZVOUS_PORT = 29400

/** The commands that start all ranks: one for each host, or a single one that looks after all machines. */
export function launchCommands(program: LaunchedProgram): (readonly [string, ...string[]])[] {
  const { launch, life } = program
  const hosts: readonly (string | null)[] = launch.hosts.length > 0 ? launch.hosts : [null]
  return hosts.map((host, index) => {
    const words = agentWords(program, host, index)
    const filled = launch.command.flatMap((word) => {
      if (word === '{program}') return words
      const parts = { '{shell}': shellWords(words), '{host}': host ?? '', '{life}': life }
      return [word.replace(/\{(?:shell|host|life)\}/g, (name) => parts[name as keyof typeof parts])]
    })
    return filled as [string, ...string[]]
  })
}

/** One agent of torchrun, with its environment in its words: what starts it elsewhere passes on words and nothing else. */
function agentWords(
  { launch, life, python, args, env, processes }: LaunchedProgram,
  host: string | null,
  index: number,
) {
  const nodes = launch.hosts.length || launch.nodes!
  const endpoint = launch.endpoint ?? `${bracketed(launch.hosts[0]!)}:${RENDEZVOUS_PORT}`
  // A single command is the same on all machines: there torch looks whose address the endpoint is.
  const own = host === null ? [] : ['--local-addr', host, '--rdzv-conf', `is_host=${index === 0 ? 1 : 0}`]
  return [
    'env',
    ...Object.entries({ ...env, ...launch.env }).map(([name, value]) => `${name}=${value}`),
    ...[python, '-m', 'torch.distributed.run', '--nnodes', String(nodes), '--nproc-per-node', String(processes)],
    // The coordinator starts ranks again: after a loss all of them, from what is on disk.
    ...['--max-restarts', '0', '--rdzv-backend', 'c10d', '--rdzv-endpoint', endpoint, '--rdzv-id', life, ...own],
    ...[...args, '--life', life],
  ]
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** The words as one for a shell that takes it apart again, as `ssh` has one run on the other side. */
const shellWords = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
