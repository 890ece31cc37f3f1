import { type Gateway, GuardError, type Redactor } from 'guard-gateway/core'
import { isJsonObject, readJson } from '#lib/json'
import { cutText, terminalText } from '#lib/text'
import type { PinState } from '../audit/enums.ts'
import type { Audit } from '../audit/index.ts'
import { type Definition, INSTRUCTIONS, pinnedOf } from './definition.ts'
import { type PinRows, storedPins } from './pin-rows.ts'
import { pinNotice, pinOf, WHOLE_LIST } from './pin-state.ts'
import type { ToolRow } from './tables.ts'

/** What a server can make us keep; tools beyond are new for ever. */
const MAX_ROWS = 20_000
/** Characters of names in an error. */
const MAX_NAMES = 1_000

/** What decides, without texts. */
type Pin = Pick<ToolRow, 'tool' | 'fingerprint' | 'seen'>
type Described = Pick<Definition, 'name' | 'fingerprint' | 'json'>

/** Which definitions of one server's tools are trusted. What its first list holds is; what comes later or changes waits for a person. */
export class Pins {
  readonly #gateway: Gateway
  readonly #audit: Audit
  readonly #server_id: string
  readonly #stored: PinRows
  readonly #rows = new Map<string, Pin>()
  #work: Promise<void> = Promise.resolve()
  #loaded = false

  /** `stored`: where they are, if not in storage. */
  constructor(gateway: Gateway, audit: Audit, server_id: string, stored = storedPins(gateway, server_id)) {
    this.#gateway = gateway
    this.#audit = audit
    this.#server_id = server_id
    this.#stored = stored
  }

  /** How a definition compares with the trusted one. */
  state({ name, fingerprint }: Definition): PinState {
    const row = this.#rows.get(name)
    if (row === undefined) return this.#rows.has(WHOLE_LIST) ? 'new' : 'known'
    return pinOf({ ...row, seen: fingerprint })
  }

  /** The same of a tool that is not in the list now: what was listed of it last counts on, here or in another process. One that nobody ever listed is known. */
  stateBefore(tool: string): PinState {
    const row = this.#rows.get(tool)
    return row === undefined ? 'known' : pinOf(row)
  }

  /** Whether the rows have been read; `load` does it once, or again to learn what other processes have written. */
  get loaded(): boolean {
    return this.#loaded
  }

  load(again = false): Promise<void> {
    return this.#inTurn(() => this.#load(again))
  }

  /** Takes note of definitions that were listed; `isLast`: they end the list. */
  observe(definitions: readonly Definition[], isLast: boolean): Promise<void> {
    return this.#inTurn(async () => {
      await this.#load()
      if (!this.#adds(definitions, isLast)) return
      // another process may have written meanwhile: what it trusts counts here too
      await this.#load(true)
      await this.#add(definitions.filter(({ name }) => !this.#rows.has(name)))
      await this.#note(definitions)
      if (isLast && !this.#rows.has(WHOLE_LIST))
        await this.#put([this.#row({ name: WHOLE_LIST, fingerprint: '', json: '{}' }, null)])
    })
  }

  /** How what a server says of itself compares with what is trusted; what it said first is. */
  stateOfServer({ fingerprint }: Definition): PinState {
    const row = this.#rows.get(INSTRUCTIONS)
    return row === undefined ? 'known' : pinOf({ ...row, seen: fingerprint })
  }

  /** Takes note of what a server says of itself; a write that fails is a fault. */
  observeServer(definition: Definition): void {
    this.#inTurn(async () => {
      await this.#load()
      if (this.#rows.get(INSTRUCTIONS)?.seen === definition.fingerprint) return
      await this.#load(true)
      if (this.#rows.has(INSTRUCTIONS)) await this.#note([definition])
      else await this.#put([this.#row(definition, definition.fingerprint)])
    }).catch((error: unknown) => this.#gateway.fault(error, 'mcp:pins'))
  }

  /** Trusts definitions as they are now; gives the names of those that were not trusted before. Rejects as `checkFingerprints` throws. */
  accept(definitions: readonly Definition[], fingerprints?: readonly string[]): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      await this.#load(true)
      const now = this.#gateway.clock.now()
      const waiting = definitions.filter((one) => this.#rows.has(one.name) && this.state(one) !== 'known')
      checkFingerprints(waiting, fingerprints)
      for (const { name, fingerprint, json } of waiting) {
        const text = definitionText(json, this.#gateway.redact)
        const changes = { fingerprint, seen: fingerprint, trusted_at: now, text, seen_text: text, waits: 0 }
        await this.#stored.change(name, changes)
        this.#tell('pin.accepted', name, fingerprint, 'A person trusts the definition.')
      }
      await this.#load(true)
      return waiting.map(({ name }) => name)
    })
  }

  /** Trusts what was listed last of these tools, by whatever process; gives the names of those that were not trusted before. Rejects as `checkFingerprints` throws. */
  acceptStored(tools: readonly string[] | 'all', fingerprints?: readonly string[]): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      const waiting = (await this.#stored.all()).filter(
        (row) => row.tool !== WHOLE_LIST && pinOf(row) !== 'known' && (tools === 'all' || tools.includes(row.tool)),
      )
      checkFingerprints(
        waiting.map(({ tool: name, seen: fingerprint }) => ({ name, fingerprint })),
        fingerprints,
      )
      const accepted: string[] = []
      const trusted_at = this.#gateway.clock.now()
      for (const { tool, seen, seen_text } of waiting) {
        const changes = { fingerprint: seen, trusted_at, text: seen_text, waits: 0 }
        // only what is on record as it was read: a definition that changed meanwhile still waits
        if (!(await this.#stored.change(tool, changes, seen))) continue
        this.#tell('pin.accepted', tool, seen, 'A person trusts the definition.')
        accepted.push(tool)
      }
      await this.#load(true)
      return accepted
    })
  }

  /** Loads definitions that another process has trusted meanwhile. */
  async refresh(tool: string): Promise<void> {
    const row = await this.#stored.get(tool)
    if (row !== undefined) this.#keep(row)
  }

  /** Whether these definitions hold anything that is not on record. */
  #adds(definitions: readonly Definition[], isLast: boolean): boolean {
    if (isLast && !this.#rows.has(WHOLE_LIST)) return true
    return definitions.some(({ name, fingerprint }) => {
      const row = this.#rows.get(name)
      return row === undefined ? this.#rows.size < MAX_ROWS : row.seen !== fingerprint
    })
  }

  async #add(definitions: readonly Definition[]): Promise<void> {
    const isFirst = !this.#rows.has(WHOLE_LIST)
    const unique = [...new Map(definitions.map((one) => [one.name, one])).values()].slice(0, MAX_ROWS - this.#rows.size)
    const rows = unique.map((one) => this.#row(one, isFirst ? one.fingerprint : null))
    await this.#put(rows)
    if (isFirst) return
    for (const { tool, seen } of rows)
      this.#tell('pin.new', tool, seen, 'The tool appeared after the first list of its server.')
  }

  /** Tells of each definition that is another than the one seen last, once. */
  async #note(definitions: readonly Definition[]): Promise<void> {
    for (const { name, fingerprint, json } of definitions) {
      const row = this.#rows.get(name)
      if (row === undefined || row.seen === fingerprint) continue
      const waits = row.fingerprint === fingerprint ? 0 : 1
      const changes = { seen: fingerprint, seen_text: definitionText(json, this.#gateway.redact), waits }
      await this.#stored.change(name, changes)
      this.#rows.set(name, { ...row, seen: fingerprint })
      if (row.fingerprint !== fingerprint)
        this.#tell('pin.changed', name, fingerprint, 'The definition is not the one that is trusted.')
    }
  }

  #row({ name, fingerprint: seen, json }: Described, fingerprint: string | null): ToolRow {
    const now = this.#gateway.clock.now()
    const seen_text = name === WHOLE_LIST ? null : definitionText(json, this.#gateway.redact)
    const [trusted_at, text] = fingerprint === null ? [null, null] : [now, seen_text]
    const waits = fingerprint === seen || name === WHOLE_LIST ? 0 : 1
    const known = { server_id: this.#server_id, tool: name, fingerprint, seen, first_seen_at: now }
    return { ...known, trusted_at, text, seen_text, waits }
  }

  /** Writes rows that are not there yet; where another process was faster, its rows stand. */
  async #put(rows: readonly ToolRow[]): Promise<void> {
    if (rows.length === 0) return
    if (!(await this.#stored.add(rows))) return this.#load(true)
    for (const row of rows) this.#keep(row)
  }

  #keep({ tool, fingerprint, seen }: ToolRow): void {
    this.#rows.set(tool, { tool, fingerprint, seen })
  }

  async #load(again = false): Promise<void> {
    if (this.#loaded && !again) return
    for (const row of await this.#stored.all()) this.#keep(row)
    this.#loaded = true
  }

  #tell(name: string, tool: string, tool_fingerprint: string, reason: string): void {
    this.#audit.event({ kind: 'pin', name, server_id: this.#server_id, tool, tool_fingerprint, reason })
    if (name !== 'pin.accepted')
      this.#gateway.hooks.notice.call(pinNotice(this.#server_id, tool, name === 'pin.new' ? 'new' : 'changed'))
  }

  /** One after the other, so that two pages do not both find a tool missing. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work)
    this.#work = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }
}

/** Throws VERSION_CONFLICT if one of the definitions is none of those that a person was shown, by fingerprint or the beginning of one. */
const checkFingerprints = (
  definitions: readonly Pick<Definition, 'name' | 'fingerprint'>[],
  fingerprints: readonly string[] | undefined,
): void => {
  if (fingerprints === undefined) return
  const other = definitions.filter(({ fingerprint }) => !fingerprints.some((known) => fingerprint.startsWith(known)))
  if (other.length === 0) return
  const names = cutText(other.map(({ name }) => name).join(', '), MAX_NAMES)
  throw new GuardError('VERSION_CONFLICT', `Changed again since it was shown: ${names}. Look at it anew.`)
}

const MAX_CHARS = 32_768

/** What is pinned of a definition as lines that a person can compare: redacted, at most 32,768 characters. */
export const definitionText = (json: string, redact: Redactor): string => {
  const read: unknown = readJson(json)
  const lines = Object.entries(pinnedOf(isJsonObject(read) ? read : {})).flatMap(([key, value]) => linesOf(key, value))
  // redacted whole, shortened afterwards: the other way round half a secret would stay
  const text = terminalText(redact.text(lines.join('\n')))
  return text.length <= MAX_CHARS ? text : `${cutText(text, MAX_CHARS)}\n… ${text.length} characters in all`
}

/** Integers beyond 2^53, as servers written in Rust or Go give for `maximum`, have all their digits. */
const exact = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value

const linesOf = (key: string, value: unknown): readonly string[] => {
  const text = typeof value === 'string' ? value : JSON.stringify(value, exact, 2)
  const [first = '', ...more] = text.split(/\r?\n/)
  return [`${key}: ${first}`, ...more.map((line) => `  ${line}`)]
}
