import { type Detector, type Gateway, GuardError } from 'guard-gateway/core'
import { type Command, commandKind } from '#lib/command'
import { recoveryHint } from '#lib/errors'
import { type Html, html } from '#lib/html'
import { type GuidePage, guidePageKind, type Page, pageKind, type SearchSource, searchSourceKind } from '#lib/page'
import { GUIDE, Guide } from './guide.ts'
import type { Leaf } from './library.ts'
import { guideForm, listPage } from './list-page.ts'

/** What of the program the gateway itself does not know. */
export interface GuideOptions {
  /** JSON schema of the configuration; asked when the guide is first read. */
  readonly configuration?: () => Promise<object>
}

/** Adds the guide: the documents of the package, the reference made of what is registered, and their search. */
export const addGuide = (gateway: Gateway, { configuration }: GuideOptions): Guide => {
  const guide = new Guide(gateway)
  const references = gateway.registry(guidePageKind)
  if (configuration !== undefined) references.add(configurationPage(configuration as () => Promise<DescribedSchema>))
  references.add(errorsPage(gateway), commandsPage(gateway), rulesPage(gateway))
  gateway.registry(pageKind).add(listPage(guide), leafPage(guide, gateway.redact.text))
  gateway.registry(searchSourceKind).add(guideSource(guide))
  return guide
}

/** Every error code and every reason of a block, with those that plugins added. */
const errorsPage = ({ errorCodes, detectors }: Gateway): GuidePage => ({
  id: 'error-codes',
  title: 'Error codes',
  text: () =>
    `What \`guard explain\` tells of each code.\n\n${[...[...errorCodes].map(errorText), ...[...detectors].map(reasonText)].toSorted().join('\n')}`,
})

type ErrorEntry = Gateway['errorCodes'] extends Iterable<infer Code> ? Code : never

const errorText = ({ id, status, type, message, help }: ErrorEntry): string =>
  `## ${id}\n\n${status} ${code(type)}. ${plainly(message)}. ${plainly(help)}\n`

const reasonText = (detector: Detector): string =>
  `## ${detector.code}\n\n429 \`guard_block\` of a [rule ${code(detector.id)}](rules#${detector.id}). ${plainly(detector.summary ?? 'It has matched')}. ${plainly(recoveryHint(detector))}\n`

/** Every command that is registered: where the command line runs the gateway, all of them. */
export const commandsPage = (gateway: Gateway): GuidePage => ({
  id: 'commands',
  title: 'Commands',
  text: () =>
    `\`guard <command> --help\` prints the same. Every command takes \`--config\`, \`--json\` and what \`guard --help\` lists besides.${gateway.registry(commandKind).get('gateway run') === undefined ? ' This gateway is part of another program, and knows some of the commands only: `guard --help` lists them all.' : ''}\n\n${[...gateway.registry(commandKind)].map(commandText).join('\n')}`,
})

const commandText = ({ id, args, summary, options = {}, example = [] }: Command): string =>
  [
    `## guard ${id}\n`,
    `${code(`guard ${id}${args === undefined ? '' : ` ${args}`}`)}: ${plainly(summary)}.\n`,
    table(
      ['Flag', 'Meaning'],
      Object.entries(options).map(([flag, meaning]) => [code(flag), plainly(meaning)]),
    ),
    ...[example].flat().map((line) => `${code(line)}\n`),
  ].join('\n')

/** Pages whose headings are names. */
const NAMES: ReadonlySet<string> = new Set(['error-codes', 'commands'])

/** Finds pages of the guide by title, error codes and commands. */
const guideSource = (guide: Guide): SearchSource => ({
  id: 'guide',
  order: 90,
  takes: 'titles of the guide, error codes and commands',
  find: async (text) => {
    const heading = text.toLowerCase()
    return (await guide.leaves()).flatMap(({ slug, title: page, sections }) =>
      sections
        .filter(({ title, depth }) => title.toLowerCase() === heading && (depth === 1 || NAMES.has(slug)))
        .map(({ id, title, depth }) => ({
          kind: 'guide',
          title,
          url: depth === 1 ? `${GUIDE}/${slug}` : `${GUIDE}/${slug}#${id}`,
          ...(depth === 1 ? {} : { note: page }),
        })),
    )
  },
  words: (text) =>
    /\p{L}{2}/u.test(text)
      ? { label: `Search the guide for “${text}”`, url: `${GUIDE}?q=${encodeURIComponent(text)}` }
      : undefined,
})

/** With so many headings a page begins with a list of them; more are looked for by the browser. */
const MIN_HEADINGS = 4
const MAX_HEADINGS = 40

/** One page of the guide. Throws NOT_FOUND for one that is not in the list. */
const leafPage = (guide: Guide, redact: (text: string) => string): Page => ({
  id: 'docs/guide/page',
  path: `${GUIDE}/:page`,
  render: async ({ params }) => {
    const found = (await guide.leaves()).find(({ slug }) => slug === params.page)
    if (found === undefined)
      throw new GuardError('NOT_FOUND', `No page of the guide is called "${redact(params.page ?? '')}".`)
    return { title: `${found.title} · Guide`, main: mainOf(found) }
  },
})

const mainOf = ({ group, main, sections }: Leaf): Html => {
  const headings = sections.filter(({ depth }) => depth === 2)
  return html`<p><a href="${GUIDE}">Guide</a> · ${group}</p>
${guideForm()}
${headings.length >= MIN_HEADINGS && headings.length <= MAX_HEADINGS && html`<nav class="chips" aria-label="On this page">${headings.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>`}
<article class="guide">${main}</article>`
}

interface ParamSchema {
  readonly description?: string
  readonly default?: unknown
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly { readonly const?: unknown }[]
}

/** Every detector, which is what the `rule_type` of a rule names. */
const rulesPage = ({ detectors }: Gateway): GuidePage => ({
  id: 'rules',
  title: 'Rules and their params',
  text: () =>
    `A rule of a policy names one of these as \`rule_type\`. [What rules may say](plugins/detectors/README.md#rules) · [simulate before you enforce](plugins/policy/simulate/README.md)\n\n${[
      ...detectors,
    ]
      .toSorted((one, other) => one.id.localeCompare(other.id))
      .map(detectorText)
      .join('\n')}`,
})

const detectorText = ({ id, code: reason, kind, summary, help, unit, needs, defaults, params }: Detector): string =>
  [
    `## ${id}\n`,
    `${code(reason)}, a rule of the kind ${kind}. ${summary === undefined ? '' : `${plainly(summary)}. `}${plainly(help ?? '')}\n`,
    table(
      ['Key', 'Default', 'Meaning'],
      [
        ['`threshold`', code(String(defaults.threshold)), unit === undefined ? '' : plainly(`counts ${unit}`)],
        ['`window_size`', code(String(defaults.window_size)), 'turns or requests that are looked at'],
        ['`action`', code(defaults.action ?? 'block'), needs === 'prices' ? 'says nothing without prices' : ''],
        ...Object.entries(
          (params as { readonly properties?: Readonly<Record<string, ParamSchema>> } | undefined)?.properties ?? {},
        ).map(([name, schema]) => [
          code(`params.${name}`),
          defaultText((defaults.params as Readonly<Record<string, unknown>> | undefined)?.[name] ?? schema.default),
          plainly([schema.description ?? '', choices(schema)].filter((part) => part !== '').join('; ')),
        ]),
      ],
    ),
  ].join('\n')

const defaultText = (value: unknown): string => (value === undefined ? '' : code(JSON.stringify(value)))

const choices = ({ enum: values, anyOf = [] }: ParamSchema): string => {
  const all = values ?? anyOf.flatMap((one) => (one.const === undefined ? [] : [one.const]))
  return all.length === 0 ? '' : `one of ${all.join(', ')}`
}

/** A JSON schema as the configuration is described by. */
interface DescribedSchema {
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
const configurationPage = (schema: () => Promise<DescribedSchema>): GuidePage => ({
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

/** Text as it is, where Markdown would read marks in it. */
const plainly = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>#|~!&]/g, '\\$&').replaceAll(/\s*\n\s*/g, ' ')

/** Text as code. */
const code = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, ' ')
  return flat.includes('`') ? plainly(flat) : `\`${flat.replaceAll('|', '\\|')}\``
}

/** A Markdown table; cells are Markdown already. Nothing where there are no rows. */
const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `${[heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`
