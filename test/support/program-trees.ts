import '../../swarm/polyfill.js'
import { PROGRAM } from '../../bin/program.js'
import { PROGRAMS } from '../../bin/programs.js'
import type { Program } from '../../common/cli/index.js'

/** All programs of the package, `prove-swarm` last. */
export const allPrograms = async (): Promise<Program[]> => [
  ...(await Promise.all(PROGRAMS.map((one) => one.load()))),
  PROGRAM,
]
