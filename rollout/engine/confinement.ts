import { existsSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Confinement of the engine's process, in case a downloaded adapter takes over llama.cpp.
 * - `files`: no network, and only the program, the base model and a private folder, but no other files of the user
 * - `network`: no network, but all files of the user
 * - `none`: all rights of the user
 *
 * The first two are Linux namespaces, which util-linux creates without privileges (unshare(1), user_namespaces(7)). They apply to
 * child processes too. The process can still signal other processes of its user.
 */
export type ConfinementLevel = 'files' | 'network' | 'none'

export interface Confinement {
  readonly level: ConfinementLevel
  /** Reasons why no stronger level is used, one for each level that was tried; none for the strongest. */
  readonly lacks: readonly string[]
}

/** A program to start. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
}

/** The files that the process needs, as absolute paths. */
export interface Needs {
  /** Files and folders that the process reads. */
  readonly reads: readonly string[]
  /** Private folder of the process, removed with it. It contains `root` and `scratch`, or equals them on levels without a root. */
  readonly home: string
  /** The folder to which the process writes. */
  readonly scratch: string
  /** An empty folder that becomes the root of the process. */
  readonly root: string
}

/** Devices and kernel information, bound unchanged for GPUs. */
const LIVE = ['/dev', '/proc', '/sys']
/** Programs, libraries and their settings. On most systems some of them are links into `/usr`. */
const SYSTEM = ['/usr', '/etc', '/opt', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix/store']

/**
 * Shell script that builds the root and enters it. Arguments: an empty folder, pairs of mode and path to bind, `--`, and the
 * program. It drops the rights over the namespace before the program starts.
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

/** Shell script that removes `$1` when the program has ended: the program cannot do it from within, and its parent may be gone. */
const CLEAN_UP = `home=$1; shift
( tail --pid=$$ -s 0.1 -f /dev/null && rm -rf -- "$home" ) <&- >/dev/null 2>&1 3>&- &
exec "$@"`

/** Returns the command that starts a program within a confinement. */
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

/** Returns the arguments to bind a path. A link in the top folder stays a link. */
function bindOf(path: string): string[] {
  if (!existsSync(path)) return []
  const isTop = dirname(path) === '/'
  if (isTop && realpathSync(path) !== path) return ['link', path, readlinkSync(path)]
  return ['read', path]
}

/** Returns the paths that are not inside other ones or inside the system folders. */
function outermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)]
  return all.filter(
    (path) =>
      ![...SYSTEM, ...all].some(
        (other) => other !== path && path.startsWith(`${other}/`) && statSync(other).isDirectory(),
      ),
  )
}
