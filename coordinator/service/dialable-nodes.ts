/** Values in no order, for random choices. Every operation takes constant time. */
class Pool<T> {
  readonly #values: T[] = []
  readonly #placeOf = new Map<T, number>()

  get size(): number {
    return this.#values.length
  }

  add(value: T): void {
    if (this.#placeOf.has(value)) return
    this.#placeOf.set(value, this.#values.push(value) - 1)
  }

  delete(value: T): void {
    const place = this.#placeOf.get(value)
    if (place === undefined) return
    this.#placeOf.delete(value)
    const last = this.#values.pop()!
    if (last === value) return
    this.#values[place] = last
    this.#placeOf.set(last, place)
  }

  /** @param random  0 .. 1 */
  pick(random: number): T {
    return this.#values[Math.floor(random * this.#values.length)]!
  }
}

interface Located {
  readonly peerId: string
}

/** Nodes that can be dialled, all of them and those of each gossip shard. */
export class DialableNodes<Node extends Located> {
  readonly #nodes = new Map<string, Node>()
  readonly #all = new Pool<string>()
  readonly #shardOf: (node: Node, shards: number) => number
  /** Names by shard, for `#shards` shards. */
  #ofShard: Pool<string>[] = []
  #shards = 0

  /** @param shardOf  returns the shard of a node */
  constructor(shardOf: (node: Node, shards: number) => number) {
    this.#shardOf = shardOf
  }

  set(node: Node): void {
    this.delete(node.peerId)
    this.#nodes.set(node.peerId, node)
    this.#all.add(node.peerId)
    if (this.#shards > 0) this.#poolOf(node).add(node.peerId)
  }

  delete(peerId: string): void {
    const node = this.#nodes.get(peerId)
    if (!node) return
    this.#nodes.delete(peerId)
    this.#all.delete(peerId)
    if (this.#shards > 0) this.#poolOf(node).delete(peerId)
  }

  /** Returns all nodes, to choose from. */
  all(): Choice<Node> {
    return this.#choiceOf(this.#all)
  }

  /** Returns the nodes of a shard, to choose from. */
  ofShard(shard: number, shards: number): Choice<Node> {
    if (shards !== this.#shards) this.#divide(shards)
    return this.#choiceOf(this.#ofShard[shard]!)
  }

  #choiceOf(pool: Pool<string>): Choice<Node> {
    return { size: pool.size, pick: (random) => this.#nodes.get(pool.pick(random))! }
  }

  #poolOf(node: Node): Pool<string> {
    return this.#ofShard[this.#shardOf(node, this.#shards)]!
  }

  #divide(shards: number): void {
    this.#shards = shards
    this.#ofShard = Array.from({ length: shards }, () => new Pool<string>())
    for (const node of this.#nodes.values()) this.#poolOf(node).add(node.peerId)
  }
}

/** Nodes to choose from. Valid until the nodes change. */
export interface Choice<Node> {
  readonly size: number
  /** @param random  0 .. 1 */
  pick(random: number): Node
}
