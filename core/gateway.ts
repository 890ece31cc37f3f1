import { OwnedBodies, RequestReader } from '../plugins/lib/request-reader.ts'
import { sessionById } from '../plugins/lib/session-id.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Approver, Keys } from './contracts/access.ts'
import type { ApiStyle } from './contracts/api-style.ts'
import type { Command } from './contracts/command.ts'
import type { Detector, Rule } from './contracts/detector.ts'
import type { ExportFormat } from './contracts/export-format.ts'
import type { McpCheck } from './contracts/mcp-check.ts'
import type { McpTransport } from './contracts/mcp-transport.ts'
import type { Ask, Form, Page, Panel } from './contracts/page.ts'
import type { Finder, Redactor, Secrets } from './contracts/redaction.ts'
import type { BudgetLeft } from './contracts/rules.ts'
import type { OnStorageFailure, Storage, StorageBackend, Table } from './contracts/storage.ts'
import type { UpstreamClient } from './contracts/upstream-client.ts'
import { throwerOf, thrownBy } from './errors/error-origin.ts'
import { GuardError } from './errors.ts'
import { cleanFragment } from './fragment/clean.ts'
import type { Fragment, Kept } from './fragment.ts'
import { createHooks } from './hooks.ts'
import { approver } from './keys/approver.ts'
import { KeyRing } from './keys.ts'
import type { Plugin } from './plugin.ts'
import { redactor } from './redact.ts'
import { Registry } from './registry.ts'
import { SecretFinder } from './secrets.ts'
import type { Caller, Session, SessionRow } from './session.ts'
import { createStore } from './store.ts'

export interface GatewayOptions {
  readonly clock?: Clock
  /** Id of the storage backend; the first registered one if absent. */
  readonly storage?: string
  /** `refuse` if absent. */
  readonly onStorageFailure?: OnStorageFailure
  readonly redaction?: {
    readonly names?: readonly string[]
    readonly emails?: boolean
    /** What to hide besides, for example a user's patterns. */
    readonly finders?: readonly Finder[]
  }
}

/** The house: hooks where things happen, registries of what there is, and the store. Plugins fill it; it knows none of them. */
export class Gateway {
  readonly hooks = createHooks()
  readonly detectors = new Registry<Detector>('detector')
  readonly apiStyles = new Registry<ApiStyle>('API style')
  readonly exportFormats = new Registry<ExportFormat>('export format')
  readonly storages = new Registry<StorageBackend>('storage backend')
  readonly mcpChecks = new Registry<McpCheck>('MCP check')
  readonly mcpTransports = new Registry<McpTransport>('MCP transport')
  readonly upstreamClients = new Registry<UpstreamClient>('upstream client')
  readonly tables = new Registry<Table>('table')
  readonly commands = new Registry<Command>('command')
  readonly pages = new Registry<Page>('page')
  readonly forms = new Registry<Form>('form')
  readonly panels = new Registry<Panel>('panel')
  /** What `/api/health` shows, one section a feature. */
  readonly health = new Map<string, () => unknown>()
  /** The document that tells a person of an error, where pages are served. */
  errorPage: ((error: GuardError, asked: { readonly url: string; readonly request_id: string }) => string) | undefined
  /** A page as a whole document with its status, where pages are served: for a feature that takes a form by itself. */
  pageDocument: ((page: Page, ask: Ask) => Promise<{ readonly status: number; readonly text: string }>) | undefined
  /** The rules in force for a project; absent where nothing judges requests. */
  rulesOf: ((project_id: string) => Promise<readonly Rule[]>) | undefined
  /** What is left of each budget in force: of a session, with those of its agent and its project, or of a project and its agents. Absent where nothing judges requests. */
  budgetsOf:
    | ((of: { readonly session: Session } | { readonly project_id: string }) => Promise<readonly BudgetLeft[]>)
    | undefined
  /** The session of this id, or of this external id if only one project has it, as it stands now. Throws SESSION_NOT_FOUND or AMBIGUOUS_ID. */
  sessionOf: (id: string) => Promise<SessionRow> = (id) => sessionById(this.storage, id)
  /** The plugin file of the user's that an error nobody caught comes from; undefined where it is none of theirs. */
  culpritOf: (error: unknown) => string | undefined = () => undefined
  /** What a line in a terminal begins with that calls this program with its configuration: where it was started, and in any folder. */
  calledAs: { readonly here: string; readonly anywhere: string } = { here: 'guard', anywhere: 'guard' }
  /** Why nothing of a caller may be forwarded, as it stands now in all processes: PAUSED_SESSION or PAUSED_AGENT. */
  pauseOf: (caller: Caller) => Promise<GuardError | undefined> = async () => undefined
  /**
   * Pauses a session, in memory at once and durably when it resolves; `told` is what its history says of it beside the reason.
   * Absent where nobody keeps sessions.
   */
  pauseSession:
    | ((session: Session, reason: string, told: Readonly<Record<string, unknown>>) => Promise<void>)
    | undefined
  /** How many first bytes of a reply are kept for `settled.head`, of streams and of other replies. */
  heads: { readonly stream: number; readonly whole: number } = { stream: 0, whole: 0 }
  /** Who may loosen what holds agents back; anybody unless a key is set. */
  approver: Approver = approver(undefined)
  /** Files of the gateway itself, absolute: whoever writes them rules it. */
  readonly ownFiles = new Set<string>()
  readonly secrets: Secrets = new SecretFinder()
  readonly keys: Keys = new KeyRing()
  /** Reads model requests, and remembers what they held. */
  readonly requestReader = new RequestReader()
  /** Bodies that are freed as soon as nobody needs them. */
  readonly ownedBodies = new OwnedBodies()
  readonly clock: Clock
  redact: Redactor
  onStorageFailure: OnStorageFailure
  #options: GatewayOptions
  readonly #plugins = new Set<string>()
  /** What `keep` has redacted. */
  readonly #cleaned = new WeakSet<object>()
  #storage: Storage | undefined

  constructor(options: GatewayOptions = {}) {
    this.clock = options.clock ?? systemClock
    this.#options = options
    this.onStorageFailure = options.onStorageFailure ?? 'refuse'
    this.redact = this.#redactor(options)
  }

  /** Takes what a configuration says, for the plugins behind the one that calls this. What the constructor was given stays; what is to be hidden adds up. */
  configure(options: Omit<GatewayOptions, 'clock'>): void {
    const [own = {}, more = {}] = [this.#options.redaction, options.redaction]
    const redaction = {
      ...more,
      ...own,
      names: [...(own.names ?? []), ...(more.names ?? [])],
      finders: [...(own.finders ?? []), ...(more.finders ?? [])],
    }
    this.#options = { ...options, ...this.#options, redaction }
    this.onStorageFailure = this.#options.onStorageFailure ?? 'refuse'
    this.redact = this.#redactor(this.#options)
  }

  #redactor({ redaction }: GatewayOptions): Redactor {
    return redactor({
      ...redaction,
      finders: [this.secrets.find, ...(redaction?.finders ?? [])],
      fault: (error) => this.fault(error, 'redact'),
    })
  }

  /** Applies plugins in order; refuses a name twice and an absent requirement. */
  use(...plugins: readonly Plugin[]): this {
    for (const plugin of plugins) {
      if (this.#plugins.has(plugin.name)) throw new GuardError('DUPLICATE', `Plugin "${plugin.name}" is applied twice.`)
      const missing = plugin.requires?.find((name) => !this.#plugins.has(name))
      if (missing !== undefined) {
        throw new GuardError(
          'MISSING_PLUGIN',
          `Plugin "${plugin.name}" needs "${missing}" before it; applied so far: ${this.plugins().join(', ') || 'none'}.`,
        )
      }
      thrownBy(`apply:${plugin.name}`, () => plugin.apply(this))
      this.#plugins.add(plugin.name)
    }
    return this
  }

  plugins(): string[] {
    return [...this.#plugins]
  }

  /** The store; there is none before `open`. */
  get storage(): Storage {
    if (this.#storage === undefined) throw new GuardError('STORAGE_UNAVAILABLE', 'The gateway is not open.')
    return this.#storage
  }

  /**
   * Opens the storage, then everything that taps `open`; what was opened is closed again if one fails.
   * `beside` opens it although a gateway may be at work on the same one.
   */
  async open({ beside = false }: { readonly beside?: boolean } = {}): Promise<this> {
    const [first] = this.storages
    const { storage } = this.#options
    const backend = storage === undefined ? first : this.storages.need(storage)
    if (backend === undefined) throw new GuardError('MISSING_PLUGIN', 'No storage backend is registered.')
    const tables = [...this.tables]
    this.#storage = createStore(await backend.open(tables, { fault: this.fault, beside }), tables, {
      redact: this.redact,
      cleaned: this.#cleaned,
    })
    try {
      await this.hooks.open.promise()
    } catch (error) {
      await this.close()
      throw error
    }
    return this
  }

  async close(): Promise<void> {
    await this.hooks.close.promise()
    this.requestReader.forget()
    await this.#storage?.close()
    this.#storage = undefined
  }

  /**
   * Keeps what writers say of runs, all of it or nothing: amended, then sanitised, redacted and limited, then stored.
   * Rejects with what is wrong with a fragment, or why it could not be stored.
   */
  async keep(fragments: readonly Fragment[]): Promise<readonly Kept[]> {
    const kept = await this.cleaned(fragments)
    await this.hooks.keep.promise(kept.map((one) => one.fragment))
    return kept
  }

  /** What `keep` would keep of fragments, which are not kept. Rejects with what is wrong with one. */
  async cleaned(fragments: readonly Fragment[]): Promise<readonly Kept[]> {
    const kept: Kept[] = []
    for (const fragment of fragments)
      kept.push(await cleanFragment(await this.hooks.trace.promise(fragment), this.redact, this.#cleaned))
    return kept
  }

  /** Reports a failure that nobody waits for, as that of the plugin that threw it where one is known. */
  readonly fault = (error: unknown, where: string): void => {
    this.hooks.fault.call(error, throwerOf(error) ?? where)
  }
}
