/** Only the owner may list or read: whoever has the key is the run, or the node. */
export const PRIVATE_FOLDER = 0o700
export const PRIVATE_FILE = 0o600
/** For programs that write a data directory: what LevelDB and Python create follows the process's mask. */
export const PRIVATE_UMASK = 0o077
