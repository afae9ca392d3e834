import type { SpokenEnvironment } from '../../servers/kernel/index.js'
import type * as kernel from '../../servers/kernel/tool-graph.js'

export { kindsGiven, lookedUp, nodeName, toolGraph } from '../../servers/kernel/tool-graph.js'

/** A tool and its environment with speech. */
export type Node = kernel.Node<SpokenEnvironment>
/** An edge between two tools of environments with speech. */
export type Link = kernel.Link<SpokenEnvironment>
/** The dependency graph over environments with speech. */
export type ToolGraph = kernel.ToolGraph<SpokenEnvironment>
