import { emptyConfig } from './defaults.ts'
import { services } from './environment.ts'
import { configSchema } from './schema.ts'

interface DescribedSchema {
  readonly default?: unknown
  /** Used if the default is empty. */
  readonly examples?: readonly unknown[]
  readonly description?: string
  readonly items?: unknown
  readonly properties?: Readonly<Record<string, unknown>>
}

const COLUMN = 42
const heading = '# Guard Gateway. A line with "#" directly before it shows a default: remove the "#" to change it.'

/** Text of a new configuration file: every key with its default and its description. Only the key differs from an empty file. */
export const annotatedConfig = (key: string): string => {
  const { default_mode, server, storage } = emptyConfig()
  const values: Readonly<Record<string, unknown>> = {
    gateway_key: key,
    default_mode,
    server: { host: server.host, port: server.port },
    storage: { file: storage.file },
  }
  const lines = Object.entries(configSchema.properties).flatMap(([name, schema]) => [
    '',
    ...entry(name, schema as DescribedSchema, values[name], ''),
  ])
  return `${[heading, ...lines.map(aligned)].join('\n')}\n`
}

/** A key with its value, or its default in a comment. */
const entry = (name: string, schema: DescribedSchema, value: unknown, indent: string): string[] => {
  const prefix = value === undefined ? `${indent}#` : indent
  if (name === 'upstreams')
    return [`${indent}# ${meaning}`, ...upstreams(schema.items as DescribedSchema, schema).map((line) => prefix + line)]
  if (schema.properties === undefined)
    return [prefix + explained(`${name}: ${flow(value ?? schema.default)}`, schema.description)]
  if (value === undefined) return tree(name, schema).map((line) => prefix + line)
  const values = value as Readonly<Record<string, unknown>>
  return [
    `${indent}${name}:`,
    ...Object.entries(schema.properties).flatMap(([key, child]) =>
      entry(key, child as DescribedSchema, values[key], `${indent}  `),
    ),
  ]
}

/** A section with all defaults. */
const tree = (name: string, schema: DescribedSchema): string[] =>
  schema.properties === undefined
    ? [
        explained(
          `${name}: ${flow(schema.default === undefined ? schema.examples?.[0] : schema.default)}`,
          schema.description,
        ),
      ]
    : [
        `${name}:`,
        ...Object.entries(schema.properties).flatMap(([key, child]) =>
          tree(key, child as DescribedSchema).map((line) => `  ${line}`),
        ),
      ]

const meaning = 'Without upstreams, these hold, each only if its variable is set in the environment:'

/** The first upstream has every key, the others only the required ones. */
const upstreams = (item: DescribedSchema, list: DescribedSchema): string[] => {
  const [first, ...rest] = services.map(({ variable, ...rest }) => ({ ...rest, api_key: `\${${variable}}` }))
  const values: Readonly<Record<string, unknown>> = { ...first }
  const full = Object.entries(item.properties ?? {}).flatMap(([key, child]) =>
    tree(key, { ...(child as DescribedSchema), ...(key in values ? { default: values[key] } : {}) }),
  )
  const short = rest.map((other) => Object.entries(other).map(([key, value]) => `${key}: ${flow(value)}`))
  return [
    explained('upstreams:', list.description),
    ...[full, ...short].flatMap((lines) => lines.map((line, index) => (index === 0 ? `  - ${line}` : `    ${line}`))),
  ]
}

/** A line with its description, not aligned yet. */
const explained = (text: string, description: string | undefined): string =>
  description === undefined ? text : `${text}\t${description}`

const aligned = (line: string): string => {
  const [text = '', description] = line.split('\t')
  return description === undefined ? text : `${text.padEnd(COLUMN)} # ${description}`
}

/** A value as one-line YAML; unambiguous text has no quotes. */
const flow = (value: unknown): string =>
  typeof value === 'string' && /^[A-Za-z0-9$][\w.:/${}-]*$/.test(value) ? value : JSON.stringify(value)
