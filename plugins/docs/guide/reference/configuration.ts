import type { GuidePage } from 'guard-gateway/lib/page'
import { code, plainly, table } from './table.ts'

/** A JSON schema as the configuration is described by. */
export interface DescribedSchema {
  readonly type?: unknown
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, DescribedSchema>>
  readonly items?: DescribedSchema
  readonly anyOf?: readonly DescribedSchema[]
  readonly patternProperties?: Readonly<Record<string, DescribedSchema>>
  readonly additionalProperties?: DescribedSchema | boolean
}

/** Every key of the configuration file. */
export const configurationPage = (schema: () => Promise<DescribedSchema>): GuidePage => ({
  id: 'configuration',
  title: 'Configuration',
  text: async () => {
    const entries = Object.entries((await schema()).properties ?? {})
    const single = entries.filter(([, section]) => rowsOf('', section).length === 0)
    const sections = entries.filter(([, section]) => rowsOf('', section).length > 0)
    return [
      `Every key of \`guard-config.yml\`. The first start writes the file with all of them; names that are not here are refused with line and column. Any value may be \`\${VARIABLE}\`.\n`,
      `## At the top\n\n${table(
        HEADS,
        single.map(([name, section]) => row(name, section)),
      )}`,
      ...sections.map(
        ([name, section]) =>
          `## ${name}\n\n${section.description === undefined ? '' : `${plainly(section.description)}.\n\n`}${table(HEADS, rowsOf(name, section))}`,
      ),
    ].join('\n')
  },
})

const HEADS = ['Key', 'Default', 'Meaning']

/** A row for each key below a section; keys of lists and of maps stand behind `[]` and `.*`. */
const rowsOf = (path: string, schema: DescribedSchema): readonly (readonly string[])[] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const at = path === '' ? name : `${path}.${name}`
    const below = rowsOf(at, child)
    return below.length > 0 && child.properties !== undefined ? below : [row(at, child), ...below]
  }),
  ...(schema.items === undefined ? [] : rowsOf(`${path}[]`, schema.items)),
  ...Object.values(schema.patternProperties ?? {}).flatMap((child) => rowsOf(`${path}.*`, child)),
  ...(typeof schema.additionalProperties === 'object' ? rowsOf(`${path}.*`, schema.additionalProperties) : []),
  ...(schema.anyOf ?? []).flatMap((child) => rowsOf(path, child)),
]

const row = (path: string, schema: DescribedSchema): readonly string[] => [
  code(path),
  schema.default === undefined ? '' : code(JSON.stringify(schema.default)),
  plainly([schema.description ?? '', limits(schema)].filter((part) => part !== '').join('; ')),
]

const limits = ({ enum: values, minimum, maximum }: DescribedSchema): string => {
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  return minimum === undefined ? '' : `at least ${minimum}`
}
