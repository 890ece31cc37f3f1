import { emptyConfig } from './defaults.ts'
import { services } from './environment.ts'
import { configSchema } from './schema.ts'

/** As much of a JSON schema as a commented file needs. */
interface Described {
  readonly default?: unknown
  /** Shown where nothing is meant by default. */
  readonly examples?: readonly unknown[]
  readonly description?: string
  readonly items?: unknown
  readonly properties?: Readonly<Record<string, unknown>>
}

const COLUMN = 42
const heading = '# Guard Gateway. A line with "#" directly before it shows a default: remove the "#" to change it.'

/** The text of a new configuration file: every key once, with its default and its meaning; what differs from no file at all is the key. */
export const annotatedConfig = (key: string): string => {
  const { default_mode, server, storage } = emptyConfig()
  const shown: Readonly<Record<string, unknown>> = {
    gateway_key: key,
    default_mode,
    server: { host: server.host, port: server.port },
    storage: { file: storage.file },
  }
  const lines = Object.entries(configSchema.properties).flatMap(([name, schema]) => [
    '',
    ...entry(name, schema as Described, shown[name], ''),
  ])
  return `${[heading, ...lines.map(aligned)].join('\n')}\n`
}

/** One key: as it stands if it has a value, else its default in a comment. */
const entry = (name: string, schema: Described, value: unknown, indent: string): string[] => {
  const mark = value === undefined ? `${indent}#` : indent
  if (name === 'upstreams')
    return [`${indent}# ${meaning}`, ...upstreams(schema.items as Described, schema).map((line) => mark + line)]
  if (schema.properties === undefined)
    return [mark + explained(`${name}: ${flow(value ?? schema.default)}`, schema.description)]
  if (value === undefined) return tree(name, schema).map((line) => mark + line)
  const given = value as Readonly<Record<string, unknown>>
  return [
    `${indent}${name}:`,
    ...Object.entries(schema.properties).flatMap(([key, child]) =>
      entry(key, child as Described, given[key], `${indent}  `),
    ),
  ]
}

/** A key with everything under it, all defaults. */
const tree = (name: string, schema: Described): string[] =>
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
          tree(key, child as Described).map((line) => `  ${line}`),
        ),
      ]

const meaning = 'Without upstreams, these two hold, each only if its variable is set in the environment:'

/** The first upstream shows every key, the second only what it needs. */
const upstreams = (item: Described, list: Described): string[] => {
  const [first, ...others] = services.map(({ variable, ...rest }) => ({ ...rest, api_key: `\${${variable}}` }))
  const given: Readonly<Record<string, unknown>> = { ...first }
  const full = Object.entries(item.properties ?? {}).flatMap(([key, child]) =>
    tree(key, { ...(child as Described), ...(key in given ? { default: given[key] } : {}) }),
  )
  const short = others.map((other) => Object.entries(other).map(([key, value]) => `${key}: ${flow(value)}`))
  return [
    explained('upstreams:', list.description),
    ...[full, ...short].flatMap((lines) => lines.map((line, index) => (index === 0 ? `  - ${line}` : `    ${line}`))),
  ]
}

/** A line and its meaning, not aligned yet. */
const explained = (text: string, description: string | undefined): string =>
  description === undefined ? text : `${text}\t${description}`

const aligned = (line: string): string => {
  const [text = '', description] = line.split('\t')
  return description === undefined ? text : `${text.padEnd(COLUMN)} # ${description}`
}

/** A value on one line of YAML; text without quotes where nothing can misread it. */
const flow = (value: unknown): string =>
  typeof value === 'string' && /^[A-Za-z0-9$][\w.:/${}-]*$/.test(value) ? value : JSON.stringify(value)
