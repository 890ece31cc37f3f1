import { Kind, type Plugin } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'

/** A plugin that takes options: `plugins: [{ use: ./mine.ts, with: { region: eu-1 } }]`. What a file exports of this form is made with the options that the configuration gives it. */
export interface ConfigurablePlugin<S extends TSchema = TSchema> {
  /** JSON schema of the options, an object. Members without a default that it lists in `required` must be given; names that it does not know are refused. */
  readonly options: S
  /** Makes the plugin, or several; `options` are complete and valid. */
  create(options: Static<S>): Plugin | readonly Plugin[]
}

/** A plugin with options, whose type is that of their schema. Throws TypeError where schema or function is missing: who runs a file has not had its types checked. */
export const configurable = <S extends TSchema>(
  options: S,
  create: (options: Static<S>) => Plugin | readonly Plugin[],
): ConfigurablePlugin<S> => {
  const made = { options, create }
  if (isConfigurable(made)) return made
  throw new TypeError('configurable() takes a JSON schema of type "object" and a function that makes the plugin.')
}

/** Whether an export takes options: one made by `configurable`, or the same as JavaScript writes it. */
export const isConfigurable = (value: unknown): value is ConfigurablePlugin => {
  if (typeof value !== 'object' || value === null) return false
  const { options, create } = value as Partial<ConfigurablePlugin>
  return (
    typeof create === 'function' &&
    typeof options === 'object' &&
    options !== null &&
    Reflect.get(options, 'type') === 'object'
  )
}

/** A plugin that came from a file of the user's. */
export interface OwnPlugin {
  /** Its name. */
  readonly id: string
  /** Absolute. */
  readonly file: string
  /** Names of the options it was given. */
  readonly given: readonly string[]
}

/** Plugins that came from files of the user's, for messages. */
export const ownPluginKind = new Kind<OwnPlugin>('plugin of your own', { file: 'text', given: 'list' })
