import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Ajv } from 'ajv'
import type { Gateway, Plugin } from 'guard-gateway/core'
import { thrownStack, thrownText } from '#lib/errors'
import { type ConfigurablePlugin, isConfigurable, ownPluginKind } from '#lib/plugin-options'
import { type ConfigError, type Refuse, schemaErrors } from './config/config-errors.ts'
import { addOptionSecrets } from './config/credentials.ts'
import type { PluginEntry } from './config/schema-plugins.ts'

/** How plugin files are applied. */
interface PluginFileOptions {
  /** The preset, where it is a smaller one: a plugin that requires what it lacks is left out. */
  readonly smaller?: string | undefined
  /** Gets one line for each plugin that is left out. */
  readonly notice?: (message: string) => void
}

/** The file of an entry of `plugins`. */
export const fileOf = (entry: PluginEntry): string => (typeof entry === 'string' ? entry : entry.use)

/** Applies the exported plugins of the files, in the order of files and of export names. `refuse` gets the first file that fails. */
export const usePlugins = async (
  gateway: Gateway,
  entries: readonly PluginEntry[],
  refuse: Refuse,
  options: PluginFileOptions = {},
): Promise<void> => {
  for (const [index, entry] of entries.entries()) await new PluginFile(gateway, entry, index, refuse, options).use()
}

class PluginFile {
  readonly #gateway: Gateway
  readonly #file: string
  readonly #configured: Readonly<Record<string, unknown>> | undefined
  readonly #index: number
  readonly #options: PluginFileOptions

  readonly #refuse: Refuse

  constructor(gateway: Gateway, entry: PluginEntry, index: number, refuse: Refuse, options: PluginFileOptions) {
    this.#gateway = gateway
    this.#file = fileOf(entry)
    this.#configured = typeof entry === 'string' ? undefined : entry.with
    this.#index = index
    this.#refuse = refuse
    this.#options = options
  }

  async use(): Promise<void> {
    const exported = await this.#load()
    this.#gateway.ownFiles.add(this.#file)
    const plugins = await this.#pluginsOf(Object.values(exported ?? {}))
    if (plugins.length === 0) this.#fail('exports no plugin: an object with a name and an apply function.')
    for (const plugin of plugins) this.#apply(plugin)
  }

  /** Those that are ready, and those that are made with the options. */
  async #pluginsOf(exported: readonly unknown[]): Promise<readonly Plugin[]> {
    const withOptions = exported.filter(isConfigurable)
    if (withOptions.length > 1) this.#fail('exports several plugins with options; a file has at most one.')
    if (withOptions.length === 0 && this.#configured !== undefined)
      this.#fail('takes no options: remove "with".', ['with'])
    const plugins: Plugin[] = []
    for (const value of exported) {
      if (isPlugin(value)) plugins.push(value)
      else if (isConfigurable(value)) plugins.push(...(await this.#create(value)))
    }
    return plugins
  }

  async #create(configurable: Parameters<typeof completeOptions>[0]): Promise<readonly Plugin[]> {
    const configured = this.#configured ?? {}
    addOptionSecrets(this.#gateway.secrets, configured, configurable.options)
    const { options, errors } = await completeOptions(configurable, configured).catch((cause: unknown) =>
      this.#fail(`has a schema of options that cannot be used: ${this.#errorText(cause)}`, [], cause),
    )
    const at = this.#configured === undefined ? [] : ['with']
    this.#refuse(
      errors.map(({ path, message }) => ({
        path: ['plugins', this.#index, ...at, ...path],
        message: this.#configured === undefined ? `${this.#file} takes options (use: and with:): ${message}` : message,
      })),
    )
    try {
      return createdPlugins(configurable.create(options as never))
    } catch (cause) {
      return this.#fail(`cannot be created: ${this.#errorText(cause)}`, [], cause)
    }
  }

  #apply(plugin: Plugin): void {
    const { smaller, notice } = this.#options
    const applied = this.#gateway.plugins()
    const missing = plugin.requires?.find((name) => !applied.includes(name))
    if (smaller !== undefined && missing !== undefined) {
      const why = `it requires "${missing}", which the preset ${smaller} does not have`
      notice?.(`The plugin "${plugin.name}" (${basename(this.#file)}) is left out: ${why}.`)
      return
    }
    try {
      this.#gateway.use(this.#named(plugin))
    } catch (cause) {
      this.#fail(`cannot be applied: ${this.#errorText(cause)}`, [], cause)
    }
    const configured = Object.keys(this.#configured ?? {})
    this.#gateway.registry(ownPluginKind).add({ id: plugin.name, file: this.#file, given: configured })
  }

  /** The plugin, whose file errors name beside it. */
  #named(plugin: Plugin): Plugin {
    const apply = (gateway: Gateway): void => {
      gateway.registering = `plugin "${plugin.name}" (${this.#file})`
      plugin.apply(gateway)
    }
    return { name: plugin.name, requires: plugin.requires ?? [], apply }
  }

  async #load(): Promise<Readonly<Record<string, unknown>>> {
    try {
      return (await import(pathToFileURL(this.#file).href)) as Readonly<Record<string, unknown>>
    } catch (cause) {
      return this.#fail(`cannot be loaded as a plugin: ${this.#errorText(cause)}`, [], cause)
    }
  }

  #fail(what: string, path: readonly string[] = [], cause?: unknown): never {
    this.#refuse([{ path: ['plugins', this.#index, ...path], message: `${this.#file} ${what}`, cause }])
    throw new Error(`${this.#file} ${what}`, { cause })
  }

  /** Error message with the source line that it names, in this file or in an imported one. A plugin may throw anything. */
  #errorText(error: unknown): string {
    if (!existsSync(this.#file)) return 'there is no such file.'
    if (!(error instanceof Error)) return `it threw ${thrownText(error)}`
    const message = thrownMessage(error)
    const stack = thrownStack(error)
    const [, failedFile, failedLine] = /^(\S.*):(\d+)\n/.exec(stack) ?? []
    if (failedFile !== undefined) return `${basename(failedFile)}:${failedLine}: ${message}`
    const [, line] = stack.split(pathToFileURL(this.#file).href)[1]?.match(/^:(\d+):\d+/) ?? []
    return line === undefined ? message : `${basename(this.#file)}:${line}: ${message}`
  }
}

const thrownMessage = (error: unknown): string => {
  try {
    return error instanceof Error ? error.message : thrownText(error)
  } catch {
    return thrownText(error)
  }
}

type Schema = Readonly<Record<string, unknown>>

/** The options of a plugin with defaults filled in, or what is wrong with them. `configured`: as configured. */
const completeOptions = async (
  { options: schema }: ConfigurablePlugin,
  configured: Readonly<Record<string, unknown>>,
): Promise<{ readonly options: Readonly<Record<string, unknown>>; readonly errors: readonly ConfigError[] }> => {
  const { Ajv } = await import('ajv')
  const ajv: Ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, strict: false })
  const options = structuredClone(configured)
  const validate = ajv.compile(closed(schema as Schema))
  return { options, errors: validate(options) ? [] : schemaErrors(validate.errors ?? [], options) }
}

/** Objects take no names that they do not list, unless they say that they do. */
const closed = (schema: Schema): Schema => {
  const { properties, additionalProperties = false } = schema
  if (schema.type !== 'object' || !isRecord(properties)) return schema
  const members = Object.entries(properties).map(([name, member]) => [name, isRecord(member) ? closed(member) : member])
  return { ...schema, properties: Object.fromEntries(members), additionalProperties }
}

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The plugins that `create` gives. Throws TypeError for anything else. */
const createdPlugins = (made: unknown): readonly Plugin[] => {
  const plugins = Array.isArray(made) ? made : [made]
  if (plugins.length > 0 && plugins.every(isPlugin)) return plugins
  throw new TypeError('create() gives no plugin: an object with a name and an apply function.')
}

const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'apply' in value &&
  typeof value.apply === 'function'
