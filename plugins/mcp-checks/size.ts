import { plainSchema } from 'guard-gateway/core'
import { type PointerValue, valuesAtPointer } from 'guard-gateway/lib/check-arguments'
import { type Arguments, type CheckFinding, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { inTurns, Pace } from 'guard-gateway/lib/time-slice'

/** The limits. */
interface Options {
  args?: string[]
  max_bytes?: number
  max_string_bytes?: number
  /** Maximum nesting of lists and objects. */
  max_depth?: number
  max_items?: number
}

/** Values between two yields. */
const STEP = 1_000
/** One violation is enough to refuse a call, so further ones are omitted. */
const MAX_FINDINGS = 100

const limit = { type: 'integer', minimum: 1 }

/** Limits the size of all or some arguments. A value equal to the limit passes. */
export const size = mcpCheck({
  id: 'size',
  schema: plainSchema<Options>({
    type: 'object',
    additionalProperties: false,
    anyOf: ['max_bytes', 'max_string_bytes', 'max_depth', 'max_items'].map((name) => ({ required: [name] })),
    properties: {
      args: { $ref: '#/$defs/pointers' },
      max_bytes: limit,
      max_string_bytes: limit,
      max_depth: { ...limit, maximum: 128 },
      max_items: limit,
    },
  }),

  find: (args, options) => inTurns(findings(args, options), new Pace()),
})

/** Yields between values. */
function* findings(args: Arguments, options: Readonly<Options>): Generator<undefined, readonly CheckFinding[]> {
  const found: CheckFinding[] = []
  for (const { pointer, value } of valuesOf(args, options)) {
    for (const reason of yield* violations(value, options)) found.push({ pointer, reason, certain: true })
    if (found.length >= MAX_FINDINGS) break
    yield
  }
  return found
}

function* valuesOf(args: Arguments, { args: pointers }: Readonly<Options>): Generator<PointerValue> {
  if (pointers === undefined) yield { pointer: '', value: args }
  for (const pointer of pointers ?? [])
    for (const one of valuesAtPointer(args, pointer)) if (one.value !== undefined) yield one
}

/** Each exceeded limit, as the end of a sentence about the value. */
function* violations(value: unknown, limits: Readonly<Options>): Generator<undefined, readonly string[]> {
  const over: string[] = []
  const compare = (measured: number, allowed: number | undefined, text: string): void => {
    if (allowed !== undefined && measured > allowed) over.push(`${text}, ${allowed} allowed`)
  }
  if (limits.max_bytes !== undefined) {
    const bytes = Buffer.byteLength(JSON.stringify(value))
    compare(bytes, limits.max_bytes, `is ${bytes} bytes long`)
  }
  if (limits.max_string_bytes === undefined && limits.max_depth === undefined && limits.max_items === undefined)
    return over
  const { string_bytes, depth, items } = yield* measured(value)
  compare(string_bytes, limits.max_string_bytes, `holds a string of ${string_bytes} bytes`)
  compare(depth, limits.max_depth, `nests ${depth} levels deep`)
  compare(items, limits.max_items, `holds a list or object of ${items} elements`)
  return over
}

interface Measure {
  /** Bytes of the longest string or name. */
  string_bytes: number
  /** Nesting of lists and objects. */
  depth: number
  /** Elements of the largest list or object. */
  items: number
}

/** Breadth-first, so that deep nesting cannot exhaust the stack. */
function* measured(value: unknown): Generator<undefined, Measure> {
  const most: Measure = { string_bytes: 0, depth: 0, items: 0 }
  let step = 0
  for (let level = look(value, most, []); level.length > 0; ) {
    most.depth++
    const inner: object[] = []
    for (const part of partsIn(level, most)) {
      if (part !== NONE) look(part, most, inner)
      if (++step % STEP === 0) yield
    }
    level = inner
  }
  return most
}

function* partsIn(level: readonly object[], most: Measure): Generator<unknown> {
  for (const container of level) yield* partsOf(container, most)
}

const NONE = Symbol('no part')

const look = (one: unknown, most: Measure, containers: object[]): object[] => {
  if (typeof one === 'string') most.string_bytes = Math.max(most.string_bytes, Buffer.byteLength(one))
  else if (typeof one === 'object' && one !== null) containers.push(one)
  return containers
}

/** Names and values. An empty container yields one part, because it also takes time to examine. */
const partsOf = (container: object, most: Measure): readonly unknown[] => {
  const isList = Array.isArray(container)
  const parts: readonly unknown[] = isList ? container : Object.entries(container).flat()
  most.items = Math.max(most.items, isList ? parts.length : parts.length / 2)
  return parts.length === 0 ? [NONE] : parts
}
