import { isJsonObject } from '../../plugins/lib/json.ts'

const MACHINE: Readonly<Record<string, unknown>> = {
  'host.name': { stringValue: 'box' },
  'host.id': { stringValue: 'h1' },
  'network.peer.port': { intValue: '4000' },
  'server.port': { intValue: '4000' },
  'process.pid': { intValue: '4242' },
  'process.parent_pid': { intValue: '4241' },
  'process.owner': { stringValue: 'agent' },
  'process.executable.path': { stringValue: '/usr/bin/node' },
  'process.command': { stringValue: '/srv/agent.js' },
  'process.command_args': {
    arrayValue: {
      values: ['/usr/bin/node', '/srv/agent.js', '-p', 'CANARYcommand: fix the bug'].map((stringValue) => ({
        stringValue,
      })),
    },
  },
  'os.version': { stringValue: '6.1' },
  'os.build_id': { stringValue: '6.1' },
  'service.instance.id': { stringValue: '00000000-0000-4000-8000-000000000001' },
}

const MAX_CHARS = 2_000
const CUT_CHARS = 200

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g

/** 2026-06-21, in nanoseconds. */
const EPOCH = 1_782_000_000_000_000_000n

/** Recorded spans with ids counted anew, times from one start, and nothing of the machine that made them. */
export class Normaliser {
  readonly #ids = new Map<string, string>()
  /** Ids that were counted already. */
  readonly #counts = new Set<string>()
  readonly #replaced: readonly (readonly [string, string])[]
  #first: bigint | undefined

  readonly #leftOut: RegExp | undefined

  /** `replaced`: texts of the machine and what stands in their place; `leftOut`: names of spans that go. */
  constructor(replaced: readonly (readonly [string, string])[], leftOut?: RegExp) {
    this.#replaced = replaced
    this.#leftOut = leftOut
  }

  all(groups: readonly unknown[]): unknown {
    for (const instant of instantsIn(groups))
      if (this.#first === undefined || instant < this.#first) this.#first = instant
    return grouped(this.#value(groups) as Group[], this.#leftOut)
  }

  #value(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (value instanceof Uint8Array) return this.#id(Buffer.from(value).toString('hex'))
    if (Array.isArray(value)) return value.map((part) => this.#value(part))
    if (!isJsonObject(value)) return value
    const machine = MACHINE[String(value.key)]
    if (machine !== undefined) return { key: value.key, value: machine }
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !/^(?:flags|dropped\w+Count)$/.test(name))
        .map(([name, part]) => [name, this.#member(name, part)]),
    )
  }

  #member(name: string, value: unknown): unknown {
    if (/^(?:trace|span|parentSpan)Id$/.test(name))
      return this.#id(typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString('hex'))
    if (/UnixNano$/.test(name)) return String(EPOCH + BigInt(String(value)) - (this.#first ?? 0n))
    return this.#value(value)
  }

  #id(hex: string): string {
    if (hex === '') return ''
    const key = hex.toLowerCase()
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const digits = key.length
    const id = (digits === 32 ? 'c' : 'd').repeat(digits - 4) + (0xa000 + this.#ids.size).toString(16)
    this.#ids.set(key, id)
    return id
  }

  #counted(id: string, write: (count: string) => string): string {
    const known = this.#ids.get(id)
    if (known !== undefined) return known
    if (this.#counts.has(id)) return id
    const counted = write((0xa000 + this.#ids.size).toString(16).padStart(12, '0'))
    this.#ids.set(id, counted)
    this.#counts.add(counted)
    return counted
  }

  #text(text: string): string {
    let found = text
    for (const [from, to] of this.#replaced) found = found.replaceAll(from, to)
    for (const [from, to] of this.#ids) if (from.length >= 16) found = found.replaceAll(from, to)
    found = found.replace(UUID, (id) => this.#counted(id, (count) => `00000000-0000-4000-8000-${count}`))
    found = found.replace(/\b[0-9a-f]{64}\b/g, (id) => this.#counted(id, (count) => count.repeat(6).slice(0, 64)))
    // long prompts of the sender itself prove nothing
    if (found.length > MAX_CHARS) found = `${found.slice(0, CUT_CHARS)} … cut`
    return found.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:4000')
  }
}

interface Group {
  readonly resource: unknown
  readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly { readonly name: string }[] }[]
}

/** Spans of one resource and scope together, as a batch has them. */
const grouped = (groups: readonly Group[], leftOut: RegExp | undefined): unknown => {
  const resources = new Map<string, { resource: unknown; scopes: Map<string, { scope: unknown; spans: unknown[] }> }>()
  for (const { resource, scopeSpans } of groups) {
    const key = JSON.stringify(resource)
    const found = resources.get(key) ?? { resource, scopes: new Map() }
    resources.set(key, found)
    for (const { scope, spans } of scopeSpans) {
      const name = JSON.stringify(scope)
      const known = found.scopes.get(name) ?? { scope, spans: [] }
      found.scopes.set(name, known)
      known.spans.push(...spans.filter(({ name }) => leftOut === undefined || !leftOut.test(name)))
    }
  }
  return [...resources.values()].map(({ resource, scopes }) => ({ resource, scopeSpans: [...scopes.values()] }))
}

function* instantsIn(value: unknown): Generator<bigint> {
  if (Array.isArray(value)) for (const part of value) yield* instantsIn(part)
  else if (isJsonObject(value) && !(value instanceof Uint8Array))
    for (const [name, part] of Object.entries(value)) {
      if (/UnixNano$/.test(name) && BigInt(String(part)) > 0n) yield BigInt(String(part))
      else yield* instantsIn(part)
    }
}
