import { stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { errorBody, type Gateway, GuardError, type Plugin, stages } from 'guard-gateway/core'
import { isShape } from 'guard-gateway/lib/json'
import { DEFAULT_ENFORCED } from './config/checks.ts'
import { pluginFaults } from './config/checks-plugins.ts'
import { addSecrets } from './config/credentials.ts'
import type { Environment } from './config/environment.ts'
import type { Config } from './config/schema.ts'
import { type LoadedConfig, loadConfig } from './config.ts'

export interface ReloadOptions {
  readonly file: string
  readonly env: Environment
  /** The configuration that the gateway's plugins were given; what can change while they run is changed in it. */
  readonly live: Config
  /** The configuration as the file said it at start. */
  readonly started: Config
  /** Told in one line of a change that is in force. */
  readonly done: (message: string) => void
  /** Told in one line of a change that is not, or not wholly. */
  readonly notice: (message: string) => void
}

/** What takes effect without a restart. */
const liveKeys = ['default_mode', 'network', 'upstreams', 'passthrough'] as const
const EVERY_MS = 1_000
/** Often enough for a change to be read and in force within a second, whatever is asked. A watcher would hear nothing in network folders and bind mounts. */
const LOOK_MS = 500
/** More text than this would keep other requests waiting while it is read. */
const MAX_BYTES = 65_536

/** Watches the configuration file. A request that comes a second after the last look waits for another one. A file that cannot be used changes nothing; health tells why. */
export const reload = (options: ReloadOptions): Plugin => ({
  name: 'reload',
  apply(gateway) {
    const watch = new ConfigWatch(gateway, options)
    const current = (): undefined | Promise<undefined> =>
      watch.due() ? watch.check().then(() => undefined) : undefined
    gateway.health.set('config', () => {
      current()?.catch(() => {})
      return watch.health()
    })
    gateway.hooks.open.tapPromise('reload', () => watch.begin())
    gateway.hooks.close.tap('reload', () => watch.end())
    gateway.hooks.request.tapPromise({ name: 'reload', stage: stages.request.configuration }, current)
    gateway.hooks.proxy.tapPromise({ name: 'reload', stage: stages.proxy.configuration }, current)
  },
})

/** A configuration file as it was last seen, and what became of it. */
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
  /** The configuration in force, as the file said it. */
  #last: Config
  /** The approver key in force; empty where none is. */
  #approver_key: string

  constructor(gateway: Gateway, options: ReloadOptions) {
    this.#gateway = gateway
    this.#options = options
    this.#last = options.started
    this.#approver_key = options.started.mcp.approver_key
  }

  /** Takes the file as it is for the one in force, and looks from now on whether it has changed. */
  async begin(): Promise<void> {
    this.#seen = await markOf(this.#options.file)
    this.#checked = this.#gateway.clock.tick()
    this.#looking = setInterval(() => void this.check(), LOOK_MS).unref()
  }

  end(): void {
    clearInterval(this.#looking)
  }

  due(): boolean {
    return this.#checking !== undefined || this.#gateway.clock.tick() - this.#checked >= EVERY_MS
  }

  /** Reads the file if it has changed; requests that come meanwhile wait for the same reading. Never rejects. */
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
    const mark = await markOf(file)
    if (mark === this.#seen) return
    this.#seen = mark
    try {
      if (Number(mark.split(':', 1)[0]) > MAX_BYTES) {
        throw new GuardError(
          'INVALID_CONFIG',
          `${file} is larger than ${MAX_BYTES} bytes; restart the gateway to use it.`,
        )
      }
      const loaded = await loadConfig(file, env)
      // it may have been halfway between two contents, also where that half is good by itself
      if ((await markOf(file)) !== mark) return this.#read()
      if (this.#error === undefined && isDeepStrictEqual(loaded.config, this.#last)) return
      this.#apply(loaded)
      this.#last = loaded.config
      this.#error = undefined
    } catch (error) {
      // it was halfway between two contents
      if ((await markOf(file)) !== mark) return this.#read()
      this.#error = error
      notice(`The changed configuration is not used, the last good one stays in force. ${(error as Error).message}`)
    }
  }

  #apply({ config: next, warnings, environmentFaults, refuse }: LoadedConfig): void {
    const { live, started, done, notice } = this.#options
    refuse([...pluginFaults(this.#gateway, next), ...environmentFaults])
    const enforced = live.default_mode === 'enforce'
    addSecrets(this.#gateway.secrets, next)
    this.#demand(next.mcp.approver_key)
    Object.assign(live, Object.fromEntries(liveKeys.map((key) => [key, next[key]])))
    this.#generation++
    const before = { ...started, mcp: { ...started.mcp, approver_key: this.#approver_key } }
    this.#restart = changedKeys(before, next)
    const message = 'The changed configuration is in force.'
    if (this.#restart.length === 0) done(message)
    else notice(`${message} These take effect with a restart: ${this.#restart.join(', ')}.`)
    if (warnings.includes(DEFAULT_ENFORCED) && !enforced) notice(DEFAULT_ENFORCED)
  }

  /** Only where there was none: whoever can write the file frees nothing that runs by taking a key away, or by one of his own. */
  #demand(approver_key: string): void {
    if (this.#approver_key !== '' || approver_key === '') return
    this.#approver_key = approver_key
    this.#gateway.approver.demand(approver_key)
  }
}

/** Size, times and identity of a file; another text if it is missing. */
const markOf = async (file: string): Promise<string> => {
  try {
    // whoever copies a file sets its time, but not when that was done
    const { size, mtimeNs, ctimeNs, ino } = await stat(file, { bigint: true })
    return `${size}:${mtimeNs}:${ctimeNs}:${ino}`
  } catch {
    return 'absent'
  }
}

/** Keys that differ and are not live, those of a section by themselves. */
const changedKeys = (before: Config, after: Config): string[] =>
  (Object.keys(before) as (keyof Config)[]).flatMap((key) => {
    const [left, right]: readonly unknown[] = [before[key], after[key]]
    if ((liveKeys as readonly string[]).includes(key) || isDeepStrictEqual(left, right)) return []
    if (!isShape(left) || !isShape(right)) return [key]
    return Object.keys(left).flatMap((name) => (isDeepStrictEqual(left[name], right[name]) ? [] : [`${key}.${name}`]))
  })
