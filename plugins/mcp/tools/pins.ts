import type { Change, Found, Gateway } from 'guard-gateway/core'
import type { Audit } from '../audit/index.ts'
import type { PinState } from '../audit/words.ts'
import type { Definition } from './definition.ts'
import type { ToolRow } from './tables.ts'

const PAGE = 500
/** What a server can make us keep; tools beyond are new for ever. */
const MAX_ROWS = 20_000
/** The row that says that a server's first list has been seen to its end. */
const WHOLE_LIST = ''

/** Which definitions of one server's tools are trusted. What its first list holds is; what comes later or changes waits for a person. */
export class Pins {
  readonly #gateway: Gateway
  readonly #audit: Audit
  readonly #server_id: string
  readonly #rows = new Map<string, ToolRow>()
  #work: Promise<void> = Promise.resolve()
  #loaded = false

  constructor(gateway: Gateway, audit: Audit, server_id: string) {
    this.#gateway = gateway
    this.#audit = audit
    this.#server_id = server_id
  }

  /** How a definition compares with the trusted one. */
  state({ name, fingerprint }: Definition): PinState {
    const row = this.#rows.get(name)
    if (row === undefined) return this.#rows.has(WHOLE_LIST) ? 'new' : 'known'
    if (row.fingerprint === null) return 'new'
    return row.fingerprint === fingerprint ? 'known' : 'changed'
  }

  /** Takes note of definitions that were listed; `isLast`: they end the list. */
  saw(definitions: readonly Definition[], isLast: boolean): Promise<void> {
    return this.#inTurn(async () => {
      await this.#load()
      if (!this.#adds(definitions, isLast)) return
      // another process may have written meanwhile: what it trusts counts here too
      await this.#load(true)
      await this.#add(definitions.filter(({ name }) => !this.#rows.has(name)))
      await this.#note(definitions)
      if (isLast && !this.#rows.has(WHOLE_LIST)) await this.#put([this.#row(WHOLE_LIST, null, '')])
    })
  }

  /** Trusts definitions as they are now; gives the names of those that were not trusted before. */
  accept(definitions: readonly Definition[]): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      await this.#load(true)
      const now = this.#gateway.clock.now()
      const waiting = definitions.filter((one) => this.#rows.has(one.name) && this.state(one) !== 'known')
      for (const { name, fingerprint } of waiting) {
        const changes = { fingerprint, seen: fingerprint, trusted_at: now }
        await this.#gateway.storage.patch('mcp_tools', [this.#server_id, name], changes)
        this.#tell('pin.accepted', name, fingerprint, 'A person trusts the definition.')
      }
      await this.#load(true)
      return waiting.map(({ name }) => name)
    })
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
    const rows = unique.map(({ name, fingerprint }) => this.#row(name, isFirst ? fingerprint : null, fingerprint))
    await this.#put(rows)
    if (isFirst) return
    for (const { tool, seen } of rows)
      this.#tell('pin.new', tool, seen, 'The tool appeared after the first list of its server.')
  }

  /** Tells of each definition that is another than the one seen last, once. */
  async #note(definitions: readonly Definition[]): Promise<void> {
    for (const { name, fingerprint } of definitions) {
      const row = this.#rows.get(name)
      if (row === undefined || row.seen === fingerprint) continue
      await this.#gateway.storage.patch('mcp_tools', [this.#server_id, name], { seen: fingerprint })
      this.#rows.set(name, { ...row, seen: fingerprint })
      if (row.fingerprint !== fingerprint)
        this.#tell('pin.changed', name, fingerprint, 'The definition is not the one that is trusted.')
    }
  }

  #row(tool: string, fingerprint: string | null, seen: string): ToolRow {
    const now = this.#gateway.clock.now()
    const trusted_at = fingerprint === null ? null : now
    return { server_id: this.#server_id, tool, fingerprint, seen, first_seen_at: now, trusted_at }
  }

  /** Writes rows that are not there yet; where another process was faster, its rows stand. */
  async #put(rows: readonly ToolRow[]): Promise<void> {
    if (rows.length === 0) return
    const changes = rows.map((put): Change => ({ table: 'mcp_tools', put, when: 'absent' }))
    if (!(await this.#gateway.storage.write(changes))) {
      for (const row of rows) await this.#gateway.storage.put('mcp_tools', row, 'absent')
      return this.#load(true)
    }
    for (const row of rows) this.#rows.set(row.tool, row)
  }

  async #load(again = false): Promise<void> {
    if (this.#loaded && !again) return
    let cursor: string | null = null
    do {
      const found: Found<ToolRow> = await this.#gateway.storage.find('mcp_tools', {
        where: { server_id: this.#server_id },
        limit: PAGE,
        ...(cursor === null ? {} : { cursor }),
      })
      for (const row of found.rows) this.#rows.set(row.tool, row)
      cursor = found.next_cursor
    } while (cursor !== null)
    this.#loaded = true
  }

  #tell(name: string, tool: string, tool_fingerprint: string, reason: string): void {
    this.#audit.event({ kind: 'pin', name, server_id: this.#server_id, tool, tool_fingerprint, reason })
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
