import { Interpreter } from '@huggingface/jinja'
import { EpisodeError } from './errors.js'

/** Maximal units of one value: a character is 1, an entry of a list or mapping 8, counted at each repetition. */
export const MAX_VALUE_UNITS = 2 ** 20
/**
 * Units that one rendering may spend: 40 tools need about 2 % of them. Units are counted, not timed, so that a node and the coordinator
 * agree on every template. They bound a hostile template's rendering to about a second and some 100 MB.
 */
export const MAX_RENDER_UNITS = 2 ** 24
const MAX_DEPTH = 250
const MAX_NESTING = 64
const MAX_INDENT = 16

const STEP_UNITS = 16
const ENTRY_UNITS = 8
/** Cost of a loop's entry, which has a scope and a closure. */
const LOOP_ENTRY_UNITS = 64
/** Cost factor of a sort: comparisons per entry grow with the logarithm of the list's length. */
const SORT_FACTOR = 20
/** Characters that a text search compares in the time of one unit. */
const SEARCH_SPEED = 16

/** A value of the template's language: a string, a number, a list of values, a mapping to values, and so on. */
interface Value {
  readonly type: string
  readonly value: unknown
}

/** The part of a syntax node that is read here. */
interface Node {
  readonly type: string
  readonly [part: string]: unknown
}

/** The library's declarations import without file extensions, so that under `nodenext` its classes have no types. */
export interface JinjaEnvironment {
  set(name: string, value: unknown): void
}
const Evaluator = Interpreter as new (
  environment: JinjaEnvironment,
) => {
  run(program: unknown): Value
  /** Undefined where an optional part is absent, and for the first or last entry of an empty list. */
  evaluate(node: Node | undefined, environment: JinjaEnvironment): Value | undefined
}

/** Creates the error of a template that exceeds a limit. */
export const overspent = (what: string): EpisodeError =>
  new EpisodeError('bad_template', `${what} is more than a chat template may use`)

/** Facts from the syntax tree about the cost of its nodes. */
export interface Places {
  /** Nodes whose values are only accessed, not copied or written: their size costs nothing. */
  readonly glances: WeakSet<object>
  /** Nodes over whose values a loop runs. */
  readonly loops: WeakSet<object>
  /** Number of nodes below macros and call blocks: the library visits them at each evaluation. */
  readonly sizes: WeakMap<object, number>
}

/** Collects the costs of a syntax tree's nodes. */
export function survey(root: unknown): Places {
  const places: Places = { glances: new WeakSet(), loops: new WeakSet(), sizes: new WeakMap() }
  const visit = (part: unknown): number => {
    if (Array.isArray(part)) return part.reduce((size: number, item) => size + visit(item), 0)
    if (part instanceof Map) return [...part].reduce((size, [key, item]) => size + visit(key) + visit(item), 0)
    if (!isNode(part)) return 0
    note(part, places)
    const size = 1 + Object.values(part).reduce((sum: number, child) => sum + visit(child), 0)
    if (part.type === 'Macro' || part.type === 'CallStatement') places.sizes.set(part, size)
    return size
  }
  visit(root)
  return places
}

function note(node: Node, { glances, loops }: Places): void {
  const glance = (part: unknown): void => {
    if (isNode(part)) glances.add(part)
  }
  switch (node.type) {
    case 'MemberExpression':
      if (!isNode(node.property) || node.property.type !== 'SliceExpression') glance(node.object)
      break
    case 'TestExpression':
      glance(node.operand)
      break
    case 'If':
      glance(node.test)
      break
    case 'Ternary':
      glance(node.condition)
      break
    case 'For': {
      const { iterable } = node
      const over = isNode(iterable) && iterable.type === 'SelectExpression' ? iterable.lhs : iterable
      glance(over)
      if (isNode(over)) loops.add(over)
      break
    }
  }
}

const isNode = (part: unknown): part is Node =>
  typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string'

/** Type of a node whose value is known already. */
const EVALUATED = 'Evaluated'

/**
 * The library's interpreter with a bounded cost. Every evaluation passes through `evaluate`. An operation costs at most the product of
 * the sizes of its operand and its arguments. So these are measured before it runs, and every result is measured before its use.
 */
export class BoundedInterpreter extends Evaluator {
  readonly #places: Places
  /** Sizes of values that cannot change. */
  readonly #known = new WeakMap<object, number>()
  #left = MAX_RENDER_UNITS
  #depth = 0

  constructor(environment: JinjaEnvironment, places: Places) {
    super(environment)
    this.#places = places
  }

  override evaluate(node: Node | undefined, environment: JinjaEnvironment): Value | undefined {
    if (node === undefined) return super.evaluate(node, environment)
    if (node.type === EVALUATED) return node.value as Value
    this.#spend(STEP_UNITS + (this.#places.sizes.get(node) ?? 0))
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw overspent(`nesting of ${MAX_DEPTH} levels`)
    try {
      const value = super.evaluate(this.#prepared(node, environment), environment)
      if (value === undefined) return value
      if (this.#places.loops.has(node)) this.#spend(LOOP_ENTRY_UNITS * entriesOf(value))
      if (this.#places.glances.has(node)) return value
      // A stored method would later run on an operand that is not measured.
      if (node.type === 'MemberExpression' && value.type === 'FunctionValue' && node.called !== true)
        throw new EpisodeError('bad_template', 'a method is used as a value')
      this.#spend(this.#size(value))
      return value
    } finally {
      this.#depth -= 1
    }
  }

  /** Evaluates the operands of an operation, spends their units, and returns the node with their values. */
  #prepared(node: Node, environment: JinjaEnvironment): Node {
    switch (node.type) {
      case 'CallExpression':
        return this.#call(node, environment)
      case 'CallStatement':
        return { ...node, call: this.#call(node.call as Node, environment) }
      case 'FilterExpression':
        return this.#filter(this.#value(node.operand, environment), node.filter as Node, environment)
      case 'FilterStatement': {
        const text = this.#value({ type: 'Program', body: node.body }, environment)
        return this.#filter(text, node.filter as Node, environment)
      }
      case 'BinaryExpression': {
        const operator = (node.operator as Node).value
        if (operator !== 'in' && operator !== 'not in') return node
        const [left, right] = [this.#value(node.left, environment), this.#value(node.right, environment)]
        if (typeof right.value === 'string') this.#spend((this.#size(left) * this.#size(right)) / SEARCH_SPEED)
        return { ...node, left: known(left), right: known(right) }
      }
      default:
        return node
    }
  }

  #value(node: unknown, environment: JinjaEnvironment): Value {
    return this.evaluate(node as Node, environment) ?? { type: 'UndefinedValue', value: undefined }
  }

  #call(node: Node, environment: JinjaEnvironment): Node {
    const args = this.#evaluated(node.args as Node[], environment)
    const callee = node.callee as Node
    if (callee.type !== 'MemberExpression') return { ...node, args: args.nodes }
    const object = this.#value(callee.object, environment)
    this.#spend(this.#size(object) * (1 + args.units) * sortFactor((callee.property as Node).value))
    return { ...node, args: args.nodes, callee: { ...callee, object: known(object), called: true } }
  }

  #filter(operand: Value, filter: Node, environment: JinjaEnvironment): Node {
    const node = { type: 'FilterExpression', operand: known(operand) }
    if (filter.type !== 'CallExpression') {
      this.#spend(this.#size(operand) * sortFactor(filter.value))
      return { ...node, filter }
    }
    const name = (filter.callee as Node).value
    const args = this.#evaluated(filter.args as Node[], environment)
    this.#spend(this.#size(operand) * (1 + args.units) * sortFactor(name))
    if ((name === 'indent' || name === 'tojson') && args.largest > MAX_INDENT)
      throw overspent(`an indentation of ${args.largest}`)
    // These two filters need the syntax of their arguments.
    const nodes = name === 'selectattr' || name === 'rejectattr' ? filter.args : args.nodes
    return { ...node, filter: { ...filter, args: nodes } }
  }

  #evaluated(args: readonly Node[], environment: JinjaEnvironment): { nodes: Node[]; units: number; largest: number } {
    let units = 0
    let largest = 0
    const take = (part: unknown): Node => {
      const value = this.#value(part, environment)
      units += this.#size(value)
      for (const plain of flat(value)) if (typeof plain === 'number') largest = Math.max(largest, Math.abs(plain))
      return known(value)
    }
    const nodes = args.map((arg) => {
      if (arg.type === 'KeywordArgumentExpression') return { ...arg, value: take(arg.value) }
      if (arg.type === 'SpreadExpression' || arg.type === 'KeywordSpreadExpression')
        return { ...arg, argument: take(arg.argument) }
      return take(arg)
    })
    return { nodes, units, largest }
  }

  #spend(units: number): void {
    this.#left -= units
    // Written so that NaN fails it.
    if (!(this.#left >= 0)) throw overspent('the work of this rendering')
  }

  #size(value: Value, nesting = 0): number {
    const { value: content } = value
    if (typeof content === 'string') return checked(content.length)
    if (!(Array.isArray(content) || content instanceof Map)) return 1
    const before = this.#known.get(value)
    if (before !== undefined) return before
    if (nesting > MAX_NESTING) throw overspent(`a value nested in ${MAX_NESTING} levels`)
    let units = ENTRY_UNITS
    let changeable = value.type === 'NamespaceValue'
    for (const entry of content instanceof Map ? content : content.entries()) {
      const [key, item] = entry as [string | number, Value | undefined]
      units = checked(units + ENTRY_UNITS + (typeof key === 'string' ? key.length : 0))
      // A list can have holes: `first` of an empty list is no value of the library.
      if (item === undefined) continue
      units = checked(units + this.#size(item, nesting + 1))
      changeable ||= typeof item.value === 'object' && item.value !== null && !this.#known.has(item)
    }
    if (!changeable) this.#known.set(value, units)
    return units
  }
}

function checked(units: number): number {
  if (units > MAX_VALUE_UNITS) throw overspent(`a value of ${units} units`)
  return units
}

const sortFactor = (name: unknown): number => (name === 'sort' || name === 'dictsort' ? SORT_FACTOR : 1)

const known = (value: Value): Node => ({ type: EVALUATED, value })

function entriesOf({ value }: Value): number {
  return Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0
}

/** Returns the value, or the values of its unpacking as arguments. */
function flat({ value }: Value): unknown[] {
  const items = Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : [{ value }]
  return items.map((item) => (item as Value | undefined)?.value)
}
