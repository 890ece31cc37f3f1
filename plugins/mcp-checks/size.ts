import { type CheckFinding, mcpCheck, plainSchema } from 'guard-gateway/core'
import { pointed } from 'guard-gateway/lib/check-arguments'

/** The most that is allowed. */
interface Limits {
  max_bytes?: number
  max_string_bytes?: number
  /** Containers within one another. */
  max_depth?: number
  max_items?: number
}

const limit = { type: 'integer', minimum: 1 }

/** How large the arguments, or some of them, may be. Exactly the limit passes. */
export const size = mcpCheck({
  id: 'size',
  schema: plainSchema<Limits & { args?: string[] }>({
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

  find(args, options): readonly CheckFinding[] {
    const judged =
      options.args === undefined
        ? [{ pointer: '', value: args }]
        : options.args.flatMap((pointer) => pointed(args, pointer)).filter((one) => one.value !== undefined)
    return judged.flatMap(({ pointer, value }) =>
      objections(value, options).map((reason) => ({ pointer, reason, certain: true })),
    )
  },
})

/** Each limit that the value is over, as the end of a sentence about it. */
const objections = (value: unknown, limits: Readonly<Limits>): string[] => {
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
  const { string_bytes, depth, items } = measured(value)
  compare(string_bytes, limits.max_string_bytes, `holds a string of ${string_bytes} bytes`)
  compare(depth, limits.max_depth, `nests ${depth} levels deep`)
  compare(items, limits.max_items, `holds a list or object of ${items} elements`)
  return over
}

interface Measure {
  /** Of the longest string or name. */
  readonly string_bytes: number
  /** Containers within one another. */
  readonly depth: number
  /** Of the container with most. */
  readonly items: number
}

/** Walks level by level, so that no depth of nesting can exhaust the stack. */
const measured = (value: unknown): Measure => {
  let string_bytes = 0
  let depth = 0
  let items = 0
  for (let level: readonly unknown[] = [value]; level.length > 0; ) {
    for (const one of level) if (typeof one === 'string') string_bytes = Math.max(string_bytes, Buffer.byteLength(one))
    const containers = level.filter((one): one is object => one !== null && typeof one === 'object')
    if (containers.length > 0) depth++
    for (const one of containers) string_bytes = Math.max(string_bytes, longestName(one))
    const parts = containers.map((one): readonly unknown[] => Object.values(one))
    for (const { length } of parts) items = Math.max(items, length)
    level = parts.flat()
  }
  return { string_bytes, depth, items }
}

const longestName = (container: object): number =>
  Array.isArray(container)
    ? 0
    : Object.keys(container).reduce((most, name) => Math.max(most, Buffer.byteLength(name)), 0)
