import { existsSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * What keeps the engine's process from doing harm, should a downloaded adapter take llama.cpp over.
 * - `files`: it has no network, and sees the program, the base model and a folder of its own, but nothing else of its user
 * - `network`: it has no network, and reads and writes what its user may
 * - `none`: it may do all that its user may
 *
 * Both are namespaces of Linux, made by util-linux without any rights (unshare(1), user_namespaces(7)). Processes that it starts are
 * kept in the same bounds. It may still signal other processes of its user.
 */
export type ConfinementLevel = 'files' | 'network' | 'none'

export interface Confinement {
  readonly level: ConfinementLevel
  /** Why it is no stronger one, a sentence for each that was tried; none for the strongest. */
  readonly lacks: readonly string[]
}

/** A program that is to be started. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
}

/** What the process needs of the disk, as absolute paths. */
export interface Needs {
  /** Files and folders that it reads. */
  readonly reads: readonly string[]
  /** Private folder of the process, removed with it: `root` and `scratch` lie in it, or are it on the levels that need no root. */
  readonly home: string
  /** The folder that it writes to. */
  readonly scratch: string
  /** An empty folder that becomes its root. */
  readonly root: string
}

/** Devices, and what the kernel tells of them: bound as they are, for GPUs. */
const LIVE = ['/dev', '/proc', '/sys']
/** Programs, libraries and their settings. On most systems some are links into `/usr`. */
const SYSTEM = ['/usr', '/etc', '/opt', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix/store']

/**
 * Builds the root and goes there: `$1` is an empty folder, then pairs of what is bound how and where, `--`, and the program. Rights
 * over the namespace end before it starts.
 */
const ENTER = `set -eu
root=$1; shift
mount -t tmpfs -o mode=755,size=1m tmpfs "$root"
mkdir "$root/tmp"
mount -t tmpfs -o size=64m tmpfs "$root/tmp"
while [ "$1" != -- ]; do
  how=$1 path=$2; shift 2
  if [ "$how" = link ]; then ln -s "$1" "$root$path"; shift; continue; fi
  mkdir -p "$root$(dirname "$path")"
  if [ -d "$path" ]; then mkdir -p "$root$path"; else : > "$root$path"; fi
  mount --rbind "$path" "$root$path"
  if [ "$how" = read ]; then mount -o remount,bind,ro "$root$path"; fi
done
shift
mount -o remount,bind,ro "$root"
cd /
exec chroot "$root" setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"`

/** Removes `$1` when the program has ended, for one that cannot do it from within, and whose parent may be gone. */
const CLEAN_UP = `home=$1; shift
( tail --pid=$$ -s 0.1 -f /dev/null && rm -rf -- "$home" ) <&- >/dev/null 2>&1 3>&- &
exec "$@"`

/** The program as it is started within these bounds. */
export function confined(
  level: ConfinementLevel,
  { file, args }: Launch,
  { reads, home, scratch, root }: Needs,
): Launch {
  if (level === 'none') return { file, args }
  const unshare = ['--user', '--net']
  if (level === 'network') {
    const program = ['setpriv', '--no-new-privs', '--', file, ...args]
    return { file: 'unshare', args: [...unshare, '--map-current-user', '--', ...program] }
  }
  const bound = [
    ...LIVE.flatMap((path) => (existsSync(path) ? ['live', path] : [])),
    ...SYSTEM.flatMap((path) => bindOf(path)),
    ...outermost([...reads, realpathSync(file)]).flatMap((path) => bindOf(path)),
    ...['write', scratch],
  ]
  const enter = ['unshare', ...unshare, '--map-root-user', '--mount', '--', 'sh', '-c', ENTER, 'sh', root]
  return { file: 'sh', args: ['-c', CLEAN_UP, 'sh', home, ...enter, ...bound, '--', file, ...args] }
}

/** A link at the top is a link there too; anything else is bound. */
function bindOf(path: string): string[] {
  if (!existsSync(path)) return []
  const isTop = dirname(path) === '/'
  if (isTop && realpathSync(path) !== path) return ['link', path, readlinkSync(path)]
  return ['read', path]
}

/** Without those that lie in others, or in what is bound anyway. */
function outermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)]
  return all.filter(
    (path) =>
      ![...SYSTEM, ...all].some(
        (other) => other !== path && path.startsWith(`${other}/`) && statSync(other).isDirectory(),
      ),
  )
}
