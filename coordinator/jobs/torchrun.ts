/** Start of ranks on other machines: `trainer.launch` of run.yaml. */
export interface TrainerLaunch {
  /** Hosts with a command for each. Empty: one command starts all ranks. */
  readonly hosts: readonly string[]
  /** Number of machines, if no hosts are named. */
  readonly nodes?: number | undefined
  readonly command: readonly string[]
  /** Rendezvous of the machines, `host:port`. */
  readonly endpoint?: string | undefined
  readonly env: Readonly<Record<string, string>>
  /** Time without a sign of life after which a rank, or the coordinator, counts as gone. */
  readonly silenceMs: number
}

/** Returns the arguments of the interpreter before `-m prove_trainer`, for a number of ranks on this machine. */
export const torchrun = (processes: number): readonly string[] =>
  // For a single rank, a launcher would only cost time.
  processes > 1 ? ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', String(processes)] : []

/** The ranks of one life, on all machines. */
export interface LaunchedProgram {
  readonly launch: TrainerLaunch
  /** Name of the life and of the rendezvous, so that agents of an earlier life cannot take part. */
  readonly life: string
  readonly python: string
  /** Arguments after `python -m torch.distributed.run ...`. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Ranks per machine. */
  readonly processes: number
}

/** Default port of the rendezvous: torch's own default. */
const RENDEZVOUS_PORT = 29400

/** Returns the commands that start all ranks: one for each host, or a single one for all machines. */
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

/** Returns the words of one torchrun agent. They include its environment variables, because launchers pass on words only. */
function agentWords(
  { launch, life, python, args, env, processes }: LaunchedProgram,
  host: string | null,
  index: number,
) {
  const nodes = launch.hosts.length || launch.nodes!
  const endpoint = launch.endpoint ?? `${bracketed(launch.hosts[0]!)}:${RENDEZVOUS_PORT}`
  // A single command is the same on all machines, so torch checks which machine has the address of the endpoint.
  const own = host === null ? [] : ['--local-addr', host, '--rdzv-conf', `is_host=${index === 0 ? 1 : 0}`]
  return [
    'env',
    ...Object.entries({ ...env, ...launch.env }).map(([name, value]) => `${name}=${value}`),
    ...[python, '-m', 'torch.distributed.run', '--nnodes', String(nodes), '--nproc-per-node', String(processes)],
    // The coordinator restarts all ranks after a loss, from the state on disk.
    ...['--max-restarts', '0', '--rdzv-backend', 'c10d', '--rdzv-endpoint', endpoint, '--rdzv-id', life, ...own],
    ...[...args, '--life', life],
  ]
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Quotes words as one word for a shell, such as that of `ssh`. */
const shellWords = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
