import { type Clock, systemClock } from './clock.ts'
import type { Approver, Keys, Redactor, Secrets, Services } from './contracts/services.ts'
import type { Storage } from './contracts/storage.ts'
import { catalogue, type ErrorCode } from './errors/catalogue.ts'
import { errorOrigin, withErrorOrigin } from './errors/error-origin.ts'
import { GuardError } from './errors.ts'
import type { CleanedFragment, Fragment } from './fragment.ts'
import { createHooks } from './hooks.ts'
import { apiStyleKind, detectorKind, errorCodeKind, type Kind, storageKind, tableKind } from './kinds.ts'
import { Deadlines } from './pipeline/deadline.ts'
import { Registry } from './registry.ts'
import { type Service, ServiceRegistry } from './service.ts'

/** What a preset is an array of. `name` is `kind/id` for a contribution and the folder's name for a feature. */
export interface Plugin {
  readonly name: string
  /** Plugins that must have been applied before. */
  readonly requires?: readonly string[]
  /** Taps hooks and fills registries; synchronous, no I/O. */
  apply(gateway: Gateway): void
}

export interface GatewayOptions {
  readonly clock?: Clock
}

/** Hooks where things happen, registries of what there is, and services that one plugin provides and others need. Plugins fill it; it knows none of them. */
export class Gateway {
  readonly hooks = createHooks(() => this.registering)
  /** Who registers things at this moment, as errors say it. */
  registering = 'this program'
  readonly #registries = new Map<object, unknown>()
  readonly detectors = this.registry(detectorKind)
  readonly apiStyles = this.registry(apiStyleKind)
  readonly storages = this.registry(storageKind)
  readonly tables = this.registry(tableKind)
  /** What errors of the gateway and its plugins mean, as `guard explain` says it. */
  readonly errorCodes = this.registry(errorCodeKind)
  /** What `/api/health` shows, one section a feature. */
  readonly health = new Map<string, () => unknown>()
  /** Files of the gateway itself, absolute: whoever writes them rules it. */
  readonly ownFiles = new Set<string>()
  /** The plugin file of the user's that an error nobody caught comes from; undefined where it is none of theirs. */
  culpritOf: (error: unknown) => string | undefined = () => undefined
  /** What a line in a terminal begins with that calls this program with its configuration: where it was started, and in any folder. */
  calledAs: { readonly here: string; readonly anywhere: string } = { here: 'guard', anywhere: 'guard' }
  readonly clock: Clock
  /** How long the taps of a call are waited for. */
  readonly deadlines = new Deadlines()
  readonly #services = new ServiceRegistry()
  readonly #plugins = new Set<string>()

  constructor(options: GatewayOptions = {}) {
    this.clock = options.clock ?? systemClock
    this.errorCodes.add(...Object.values<ErrorCode>(catalogue))
  }

  /** What plugins have registered of a kind. */
  registry<T extends { readonly id: string }>(kind: Kind<T>): Registry<T> {
    let registry = this.#registries.get(kind) as Registry<T> | undefined
    if (registry === undefined) {
      registry = new Registry(kind.title, kind.shape, () => this.registering)
      this.#registries.set(kind, registry)
    }
    return registry
  }

  /** The service of a name: one plugin provides it, others need it. */
  service<N extends keyof Services>(name: N): Service<Services[N]> {
    return this.#services.of(name)
  }

  /** Hides secrets. Throws MISSING_PLUGIN without a plugin that does. */
  get redact(): Redactor {
    return this.service('redaction').need().redactor
  }

  /** The credentials of this process. Throws MISSING_PLUGIN as `redact` does. */
  get secrets(): Secrets {
    return this.service('redaction').need().secrets
  }

  /** The keys that open the model proxy. Throws MISSING_PLUGIN without a plugin that keeps them. */
  get keys(): Keys {
    return this.service('access').need().keys
  }

  /** Who may loosen what holds agents back. Throws MISSING_PLUGIN as `keys` does. */
  get approver(): Approver {
    return this.service('access').need().approver
  }

  /** The storage. Throws STORAGE_UNAVAILABLE where the gateway is not open. */
  get storage(): Storage {
    const storage = this.service('store').get()?.storage
    if (storage === undefined) throw new GuardError('STORAGE_UNAVAILABLE', 'The gateway is not open.')
    return storage
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
      this.registering = `plugin "${plugin.name}"`
      withErrorOrigin(`apply:${plugin.name}`, () => plugin.apply(this))
      this.registering = 'this program'
      this.#plugins.add(plugin.name)
    }
    return this
  }

  plugins(): string[] {
    return [...this.#plugins]
  }

  /**
   * Opens the storage, then everything that taps `open`; what was opened is closed again if one fails.
   * `beside` opens it although a gateway may be at work on the same one. Rejects with MISSING_PLUGIN where nothing hides secrets, keeps keys or stores.
   */
  async open({ beside = false }: { readonly beside?: boolean } = {}): Promise<this> {
    for (const name of ['redaction', 'access', 'store'] as const) this.service(name).need()
    try {
      await this.hooks.open.promise({ beside })
    } catch (error) {
      // the storage opens first: without it nothing else has
      if (this.service('store').need().storage !== undefined) await this.close()
      throw error
    }
    return this
  }

  async close(): Promise<void> {
    await this.hooks.close.promise()
  }

  /**
   * Keeps what writers say of runs, all of it or nothing: amended, then sanitised, redacted and limited, then stored.
   * Rejects with what is wrong with a fragment, or why it could not be stored.
   */
  async keep(fragments: readonly Fragment[]): Promise<readonly CleanedFragment[]> {
    const cleaned = await this.cleaned(fragments)
    await this.hooks.keep.promise(cleaned.map((one) => one.fragment))
    return cleaned
  }

  /** What `keep` would keep of fragments, which are not kept. Rejects with what is wrong with one. */
  async cleaned(fragments: readonly Fragment[]): Promise<readonly CleanedFragment[]> {
    const redaction = this.service('redaction').need()
    const cleaned: CleanedFragment[] = []
    for (const fragment of fragments) cleaned.push(await redaction.fragment(await this.hooks.trace.promise(fragment)))
    return cleaned
  }

  /** Reports a failure that nobody waits for, as that of the plugin that threw it where one is known. */
  readonly fault = (error: unknown, where: string): void => {
    this.hooks.fault.call(error, errorOrigin(error) ?? where)
  }
}
