import { type Config, configSchema } from './schema.ts'

interface Branch {
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, unknown>>
}

/** The configuration that an empty file would mean, without a key and without upstreams: enough to ask a gateway what there is. */
export const emptyConfig = (): Config => ({ ...(fill(configSchema) as Config), gateway_key: '' })

/** Defaults of a schema; a section is made of those of its keys. */
const fill = (schema: Branch): unknown =>
  schema.properties === undefined
    ? structuredClone(schema.default)
    : Object.fromEntries(Object.entries(schema.properties).map(([name, child]) => [name, fill(child as Branch)]))
