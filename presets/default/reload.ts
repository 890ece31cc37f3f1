import { stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { errorBody, type Gateway, GuardError, type Plugin, stages } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { isJsonObject } from '#lib/json'
import { thisMachine } from '#lib/principal'
import { instanceFactKind } from '#lib/session'
import { DEFAULT_ENFORCED } from './config/checks.ts'
import { pluginErrors } from './config/checks-plugins.ts'
import { addSecrets } from './config/credentials.ts'
import type { Environment } from './config/environment.ts'
import type { Config } from './config/schema.ts'
import { type LoadedConfig, loadConfig } from './config.ts'

export interface ReloadOptions {
  readonly file: string
  readonly env: Environment
  /** Configuration that the plugins use. A reload changes its live keys. */
  readonly live: Config
  /** Configuration at start. */
  readonly started: Config
  /** Gets one line for a change in force. */
  readonly done: (message: string) => void
  /** Gets one line for a change that is rejected or only partly in force. */
  readonly notice: (message: string) => void
}

/** Keys that take effect without a restart. */
const liveKeys = ['default_mode', 'network', 'upstreams', 'passthrough'] as const
const MAX_AGE_MS = 1_000
/** Polling applies a change within a second. A watcher misses changes in network folders and bind mounts. */
const POLL_MS = 1_000
/** Parsing a larger file would delay requests. */
const MAX_BYTES = 65_536

/** Polls the configuration file. A request one second after the last poll waits for the next one. An invalid file changes nothing, and health reports the error. */
export const reload = (options: ReloadOptions): Plugin => ({
  name: 'reload',
  apply(gateway) {
    const watch = new ConfigWatch(gateway, options)
    const current = (): undefined | Promise<undefined> =>
      watch.isDue() ? watch.check().then(() => undefined) : undefined
    gateway.health.set('config', () => {
      current()?.catch(() => {})
      return watch.health()
    })
    const inForce = () => JSON.stringify(liveKeys.map((key) => options.live[key]))
    gateway.registry(instanceFactKind).add({ id: 'configuration', value: () => sha256(inForce()).slice(0, 12) })
    gateway.hooks.open.tapPromise('reload', () => watch.start())
    gateway.hooks.close.tap('reload', () => watch.stop())
    gateway.hooks.request.tapPromise({ name: 'reload', stage: stages.request.configuration }, current)
    gateway.hooks.proxy.tapPromise({ name: 'reload', stage: stages.proxy.configuration }, current)
  },
})

class ConfigWatch {
  readonly #gateway: Gateway
  readonly #options: ReloadOptions
  #seen = ''
  #checked = Number.NEGATIVE_INFINITY
  #checking: Promise<void> | undefined
  #looking: NodeJS.Timeout | undefined
  #generation = 1
  #error: unknown
  #restart: readonly string[] = []
  /** Last valid configuration of the file. */
  #last: Config
  /** Approver key in force; empty for none. */
  #approver_key: string

  constructor(gateway: Gateway, options: ReloadOptions) {
    this.#gateway = gateway
    this.#options = options
    this.#last = options.started
    this.#approver_key = options.started.mcp.approver_key
  }

  /** Records the current state of the file and starts to poll. */
  async start(): Promise<void> {
    this.#seen = await fingerprintOf(this.#options.file)
    this.#checked = this.#gateway.clock.tick()
    this.#looking = setInterval(() => void this.check(), POLL_MS).unref()
  }

  stop(): void {
    clearInterval(this.#looking)
  }

  isDue(): boolean {
    return this.#checking !== undefined || this.#gateway.clock.tick() - this.#checked >= MAX_AGE_MS
  }

  /** Reads the file if it has changed. Concurrent callers share one read. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#read().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  health() {
    return {
      status: this.#error === undefined ? 'ok' : 'refused',
      generation: this.#generation,
      error: this.#error === undefined ? null : errorBody(this.#error),
      restart_needed: this.#restart,
    }
  }

  async #read(): Promise<void> {
    this.#checked = this.#gateway.clock.tick()
    const { file, env, notice } = this.#options
    const fingerprint = await fingerprintOf(file)
    if (fingerprint === this.#seen) return
    this.#seen = fingerprint
    try {
      if (Number(fingerprint.split(':', 1)[0]) > MAX_BYTES) {
        throw new GuardError(
          'INVALID_CONFIG',
          `${file} is larger than ${MAX_BYTES} bytes; restart the gateway to use it.`,
        )
      }
      const loaded = await loadConfig(file, env)
      // the file changed during the read, even if this content is valid
      if ((await fingerprintOf(file)) !== fingerprint) return this.#read()
      if (this.#error === undefined && isDeepStrictEqual(loaded.config, this.#last)) return
      this.#apply(loaded)
      this.#last = loaded.config
      this.#error = undefined
    } catch (error) {
      // the file changed during the read
      if ((await fingerprintOf(file)) !== fingerprint) return this.#read()
      this.#error = error
      notice(`The changed configuration is not used, the last good one stays in force. ${(error as Error).message}`)
    }
  }

  #apply({ config: next, warnings, environmentErrors, refuse }: LoadedConfig): void {
    const { live, started, done, notice } = this.#options
    refuse([...pluginErrors(this.#gateway, next), ...environmentErrors])
    const enforced = live.default_mode === 'enforce'
    addSecrets(this.#gateway.secrets, next)
    this.#demand(next.mcp.approver_key)
    Object.assign(live, Object.fromEntries(liveKeys.map((key) => [key, next[key]])))
    this.#generation++
    const before = { ...started, mcp: { ...started.mcp, approver_key: this.#approver_key } }
    this.#restart = changedKeys(before, next)
    const actor = { ...thisMachine, name: 'configuration file' }
    const details = { mode: next.default_mode, restart: this.#restart }
    const entry = { action: 'configuration.changed', actor, details }
    void this.#gateway.service('audit').get()?.note(entry)
    const message = 'The changed configuration is in force.'
    if (this.#restart.length === 0) done(message)
    else notice(`${message} These take effect with a restart: ${this.#restart.join(', ')}.`)
    if (warnings.includes(DEFAULT_ENFORCED) && !enforced) notice(DEFAULT_ENFORCED)
  }

  /** A reload adds an approver key only if there is none, so that write access to the file cannot remove or replace a key. */
  #demand(approver_key: string): void {
    if (this.#approver_key !== '' || approver_key === '') return
    this.#approver_key = approver_key
    this.#gateway.approver.demand(approver_key)
  }
}

/** Size, times and inode of a file; `absent` if it is missing. */
const fingerprintOf = async (file: string): Promise<string> => {
  try {
    // a copy can set mtime but not ctime
    const { size, mtimeNs, ctimeNs, ino } = await stat(file, { bigint: true })
    return `${size}:${mtimeNs}:${ctimeNs}:${ino}`
  } catch {
    return 'absent'
  }
}

/** Changed keys that need a restart, at the level of sections. */
const changedKeys = (before: Config, after: Config): string[] =>
  (Object.keys(before) as (keyof Config)[]).flatMap((key) => {
    const [previous, next]: readonly unknown[] = [before[key], after[key]]
    if ((liveKeys as readonly string[]).includes(key) || isDeepStrictEqual(previous, next)) return []
    if (!isJsonObject(previous) || !isJsonObject(next)) return [key]
    return Object.keys(previous).flatMap((name) =>
      isDeepStrictEqual(previous[name], next[name]) ? [] : [`${key}.${name}`],
    )
  })
