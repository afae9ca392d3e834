/** Modes for folders and files that only their owner may read, because they contain the key of a run or a node. */
export const PRIVATE_FOLDER = 0o700
export const PRIVATE_FILE = 0o600
/** Process mask for programs that write a data directory, because files of LevelDB and Python follow it. */
export const PRIVATE_UMASK = 0o077
