import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Html, html, raw } from '#lib/html'
import { type Page, pageKind } from '#lib/page'
import { completed, describeRoute, documentFrame } from './document.ts'
import { addGuide, type GuideOptions } from './guide/index.ts'
import {
  type Body,
  type Description,
  type LocatedOperation,
  type Operation,
  operationsOf,
  type Parameter,
  type Schema,
} from './page/description.ts'
import { type GuardCommand, guardCommandOf } from './page/guard-command.ts'
import { listPage } from './page/list.ts'
import { stylePaths } from './style-paths.ts'

export interface DocsOptions extends GuideOptions {
  /** Service version in the description. */
  readonly version: string
}

/** Collects the routes that are added to `app` after this call, and serves their description as JSON and as pages. */
export const describe = async (app: FastifyInstance, gateway: Gateway, options: DocsOptions): Promise<void> => {
  await app.register(swagger, {
    openapi: documentFrame(options.version),
    transform: describeRoute,
    transformObject: completed(() => stylePaths(gateway.apiStyles)),
    convertConstToEnum: false,
  })
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => reply.send(app.swagger()))
  // the description contains only schemas of this process
  const description = () => app.swagger() as unknown as Description
  gateway.registry(pageKind).add(listPage(description, addGuide(gateway, options)))
  gateway.registry(pageKind).add(operationPage(gateway, description))
}

/** Page of one operation: a form that sends it, its command, and its fields. Throws NOT_FOUND. */
const operationPage = (gateway: Gateway, describe: () => Description): Page => ({
  id: 'docs/operation',
  path: '/docs/:operation',
  render: async ({ params, origin, query }) => {
    const found = operationsOf(describe()).find(({ id }) => id === params.operation)
    if (found === undefined)
      throw new GuardError('NOT_FOUND', `No operation is called "${gateway.redact.text(params.operation ?? '')}".`)
    const keyCommand = `${gateway.calledAs.here} key print`
    const guardCommand = guardCommandOf(found, gateway.calledAs.here)
    const command = exampleCommand(found, { origin, keyCommand, values: query })
    const form = requestForm(
      found,
      { values: query, keyCommand, guardCommand },
      commandPart(found, command, guardCommand),
    )
    return { title: `${found.method} ${found.path} · API`, main: mainOf(found, form) }
  },
})

const mainOf = ({ method, path, operation }: LocatedOperation, form: Html): Html => {
  const { summary, description, security, requestBody } = operation
  return html`<p><a href="/docs">API</a> · ${operation.tags?.[0]}</p>
<h1><code>${method} ${path}</code></h1>
<p>${summary}.${security !== undefined && ' Requires a key.'}</p>
${description !== undefined && html`<p>${description}</p>`}
${form}
${requestBody !== undefined && html`<h2>Fields of the body</h2>${bodyTables(requestBody)}`}
${responseSections(operation)}`
}

/** The request as a command. Script offers further kinds, and puts typed keys into the command on demand. */
const commandPart = ({ operation }: LocatedOperation, command: string, guardCommand: GuardCommand | undefined): Html =>
  html`<p class="buttons"><label data-scripted hidden>As <select data-request="as"><option>curl</option><option>fetch</option>${guardCommand !== undefined && html`<option>guard</option>`}</select></label>${hasKey(operation) && html`<label data-scripted hidden><input type="checkbox" data-request="keys">with the typed keys</label>`}<button type="button" class="plain" data-copy="${command}" data-request="copy">Copy</button>${/\{\w+\}/.test(command) && html`<span class="quiet" data-request="braces">Fill in the values in braces.</span>`}</p>
<pre data-request="command">${command}</pre>`

const hasKey = ({ security, parameters = [] }: Operation): boolean =>
  security !== undefined || parameters.some(({ name, in: location }) => location === 'header' && name.endsWith('-key'))

/** Responses; statuses with equal responses share a section. */
const responseSections = ({ responses }: Operation): Html => html`<h2>Responses</h2>
${[...Map.groupBy(Object.entries(responses), ([, body]) => JSON.stringify(body)).values()].map((equal) => {
  const [[, body = {}] = ['', {}]] = equal
  const statuses = equal.map(([status]) => (status === 'default' ? 'Default' : status)).join(', ')
  return html`<h3>${statuses} <span class="quiet">${body.description === 'Default Response' ? '' : body.description}</span></h3>${bodyTables(body)}`
})}`

const JSON_TYPE = 'application/json'

/** Origin of the gateway, the command that prints its key, and values by parameter name. */
interface CommandContext {
  readonly origin: string
  readonly keyCommand: string
  readonly values?: URLSearchParams
}

/** A curl command for an operation. Braces mark the values to fill in. The page's script writes the same from what is typed. */
export const exampleCommand = (located: LocatedOperation, context: CommandContext): string => {
  const { method, operation } = located
  const { parameters = [], security, requestBody } = operation
  const { origin, keyCommand, values = new URLSearchParams() } = context
  const lines = [`curl ${methodOption(method)}"${origin}${addressOf(located, values)}"`]
  if (security !== undefined) lines.push('-H "authorization: Bearer $GUARD_KEY"')
  for (const { name, in: location } of parameters) {
    const value = location === 'header' ? (values.get(name) ?? '') : ''
    if (value !== '') lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  }
  const first = security === undefined ? '' : `GUARD_KEY="$(${keyCommand})"\n`
  return first + [...lines, ...bodyOptions(requestBody?.content ?? {})].join(' \\\n  ')
}

/** Path and query with the values that are given. */
const addressOf = ({ path, operation }: LocatedOperation, values: URLSearchParams): string => {
  const parameters = (operation.parameters ?? []).flatMap(({ name, in: location }) => {
    const value = values.get(name) ?? ''
    return value === '' ? [] : [{ name, location, value: encoded(value) }]
  })
  const paths = parameters.filter(({ location }) => location === 'path')
  const query = parameters.filter(({ location }) => location === 'query').map(({ name, value }) => `${name}=${value}`)
  const filled = paths.reduce((text, { name, value }) => text.replace(`{${name}}`, () => value), path)
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled
}

/** Marks that a shell could read otherwise are encoded too. */
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const methodOption = (method: string): string => (method === 'GET' ? '' : method === 'HEAD' ? '-I ' : `-X ${method} `)

/** Options for the body: its content type, and the route's example or a file. */
const bodyOptions = (content: NonNullable<Body['content']>): readonly string[] => {
  const [type = JSON_TYPE] = JSON_TYPE in content ? [JSON_TYPE] : Object.keys(content)
  const { schema, example } = content[type] ?? {}
  if (schema === undefined || (example === undefined && schema.format !== 'binary')) return []
  const body =
    example === undefined
      ? "--data-binary '@{file}'"
      : `-d ${quoted(typeof example === 'string' ? example : JSON.stringify(example, null, 2))}`
  return [`-H 'content-type: ${type}'`, body]
}

/** Quotes a word for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Tables of a body by media type; media types with equal schemas share a table. */
const bodyTables = ({ content = {} }: Body): readonly Html[] => {
  const types = Map.groupBy(Object.entries(content), ([, { schema }]) => JSON.stringify(schema ?? {}))
  return [...types.values()].map((equal) => {
    const [[, { schema = {} }] = ['', {}]] = equal
    return html`<p class="quiet">${equal.map(([type]) => type).join(', ')}</p>${schemaTables(schema)}`
  })
}

/** Each alternative with members has its own table. */
const schemaTables = (schema: Schema): readonly Html[] => {
  const alternatives = alternativesOf(schema)
  const objects = alternatives.filter(({ properties }) => properties !== undefined)
  if (objects.length < 2) return [schemaTable(schema)]
  return alternatives.map(
    (alternative, at) => html`${at > 0 && html`<p class="quiet">or</p>`}${schemaTable(alternative)}`,
  )
}

const schemaTable = (schema: Schema): Html => {
  const rows = rowsOf(schema)
  const [first] = rows
  // a value without members takes one line
  if (first?.name === '')
    return html`<p><code>${typeText(schema)}</code> ${constraintText(schema)} ${schema.description}</p>`
  return table('Field', rows.map(row))
}

const table = (heading: string, rows: readonly Html[]): Html =>
  html`<table class="list stacks api"><thead><tr><th scope="col">${heading}</th><th scope="col">Type</th><th scope="col" class="free">Description and limits</th></tr></thead><tbody>
${rows}</tbody></table>`

/** A longer name wraps. */
const ONE_LINE_CHARS = 40

const row = ({ name, required, schema }: SchemaRow): Html =>
  html`<tr><th scope="row"><code${name.length <= ONE_LINE_CHARS && raw` class="status"`}>${name}</code></th><td><code>${typeText(schema)}</code>${required && html` <span class="status">required</span>`}</td><td>${schema.description} <span class="quiet">${constraintText(schema)}</span></td></tr>
`

/** A member of a schema, at any depth. */
interface SchemaRow {
  /** `spans[].events[].name`; `*` for any name; empty for the value itself. */
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
}

const MAX_DEPTH = 6

/** Members of a schema, parents first; the value itself if it has no members. */
export const rowsOf = (schema: Schema): readonly SchemaRow[] => {
  const rows = new Map<string, SchemaRow>()
  addMembers(rows, schema, '', 0)
  return rows.size > 0 ? [...rows.values()] : [{ name: '', required: true, schema }]
}

const addMembers = (rows: Map<string, SchemaRow>, schema: Schema, path: string, depth: number): void => {
  if (depth > MAX_DEPTH) return
  for (const alternative of [...alternativesOf(schema), ...(schema.allOf ?? [])]) {
    if (alternative.items !== undefined) addMembers(rows, alternative.items, `${path}[]`, depth + 1)
    for (const [name, member] of membersOf(alternative)) {
      const fullName = path === '' ? name : `${path}.${name}`
      const required = alternative.required?.includes(name) === true
      // alternatives may share a member
      rows.set(fullName, rows.get(fullName) ?? { name: fullName, required, schema: member })
      addMembers(rows, member, fullName, depth + 1)
    }
  }
}

const membersOf = ({ properties = {}, patternProperties = {}, additionalProperties }: Schema) => {
  const anyName = typeof additionalProperties === 'object' ? [additionalProperties] : []
  const any = [...Object.values(patternProperties), ...anyName].map((member) => ['*', member] as const)
  return [...Object.entries(properties), ...any]
}

/** What a form needs besides its operation. */
interface FormContext {
  /** Values by parameter name, from the address of the page. */
  readonly values: URLSearchParams
  /** Command that prints the gateway key. */
  readonly keyCommand: string
  /** The same operation on the command line, if there is one. */
  readonly guardCommand: GuardCommand | undefined
}

/** A form that sends a request for an operation. Without script it fills in the command. Fields for keys and bodies have no name, so that no address contains them. */
const requestForm = (located: LocatedOperation, context: FormContext, command: Html): Html => {
  const { id, method, path, operation } = located
  const { parameters = [], requestBody, security } = operation
  return html`<form class="request" action="/docs/${id}" autocomplete="off" data-method="${method}" data-path="${path}" data-key-command="${context.keyCommand}"${context.guardCommand !== undefined && html` data-guard="${JSON.stringify(context.guardCommand)}"`}>
${parameters.length > 0 && html`<h2>Parameters</h2>${parameterFields(parameters, context.values)}`}
${requestBody !== undefined && html`<h2>Body${requestBody.required !== true && html` <span class="quiet">optional</span>`}</h2>${requestBody.description !== undefined && html`<p>${requestBody.description}</p>`}${bodyFields(requestBody)}`}
${security !== undefined && html`<p class="filters"><label>Key, sent as authorization: Bearer<input type="password" autocomplete="off" size="40" data-key-field data-env="GUARD_KEY"></label></p><p class="quiet">The key stays in this field. It is neither stored nor part of an address. <code>${context.keyCommand}</code> prints it.</p>`}
<p class="buttons"><button class="main" data-request="send" data-scripted hidden>Send</button><button type="button" data-request="stop" hidden>Stop</button><span class="quiet" data-scripted hidden>Ctrl+Enter sends</span><noscript><button>Fill in the command</button> <span class="quiet">Sending from this page needs script.</span></noscript></p>
${command}
</form>
<div data-request="status" role="status"></div>
<section data-request="result" aria-label="Answer" hidden><details><summary>Headers</summary><pre data-request="headers"></pre></details><pre class="answer" data-request="output" tabindex="0" role="region" aria-label="Body of the answer"></pre><p><a data-request="download" hidden>Download</a></p></section>`
}

const parameterFields = (parameters: readonly Parameter[], values: URLSearchParams): Html =>
  html`<table class="list stacks api"><thead><tr><th scope="col">Parameter</th><th scope="col">Type</th><th scope="col">Value</th><th scope="col" class="free">Description and limits</th></tr></thead><tbody>
${parameters.map((parameter) => {
  const { name, in: location, required = false, description, schema = {} } = parameter
  return html`<tr><th scope="row" id="parameter-${name}"><code class="status">${name}</code>${location !== 'path' && html` <span class="quiet">${location}</span>`}</th><td><code>${typeText(schema)}</code>${required && html` <span class="status">required</span>`}</td><td>${parameterField(parameter, values.get(name) ?? '')}</td><td id="meaning-${name}">${description ?? schema.description} <span class="quiet">${constraintText(schema)}</span></td></tr>
`
})}</tbody></table>`

/** Keys have no name, so that a form without script does not put them into an address. */
const isSecret = ({ name, in: location }: Parameter): boolean =>
  location === 'header' && /(?:^|-)(?:key|token|authorization)$/.test(name)

const envOf = (name: string): string => name.replace(/^x-/, '').replaceAll('-', '_').toUpperCase()

const parameterField = (parameter: Parameter, value: string): Html => {
  const { name, in: location, required = false, schema = {} } = parameter
  const secret = isSecret(parameter)
  const attributes = html` data-in="${location}" data-name="${name}" aria-labelledby="parameter-${name}" aria-describedby="meaning-${name}"${required && raw` required`}${secret ? html` data-env="${envOf(name)}"` : html` name="${name}"`}`
  const choices = choicesOf(schema)
  if (choices.length > 0)
    return html`<select${attributes}><option value=""></option>${choices.map((choice) => html`<option value="${choice}"${choice === value && raw` selected`}>${choice}</option>`)}</select>`
  return html`<input${attributes} type="${secret ? 'password' : 'text'}" autocomplete="off" spellcheck="false" value="${secret ? '' : value}">`
}

/** All values that a schema allows; empty if they are too many to list. */
const choicesOf = (schema: Schema): readonly string[] => {
  const values = alternativesOf(schema).map(({ const: only, enum: some, type }) => {
    if (only !== undefined) return [only]
    return type === 'boolean' ? [true, false] : some
  })
  return values.some((some) => some === undefined) ? [] : values.flatMap((some = []) => some.map(String))
}

const ROWS_MIN = 3
const ROWS_MAX = 18

/** One editor for each media type; the first one is visible. */
const bodyFields = ({ content = {} }: Body): Html => {
  const types = Object.entries(content)
  return html`${types.length > 1 && html`<p class="filters" data-scripted hidden><label>Content type<select data-request="type">${types.map(([type]) => html`<option>${type}</option>`)}</select></label></p>`}
${types.map(([type, { schema = {}, example }], at) => {
  const text = example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  const rows = Math.min(Math.max(text.split('\n').length, ROWS_MIN), ROWS_MAX)
  const isFile = schema.format === 'binary' || type === 'multipart/form-data'
  const isText = type !== 'multipart/form-data' && !/octet-stream|protobuf/.test(type)
  return html`<div data-body="${type}"${at > 0 && raw` hidden`}>${
    isText &&
    html`<textarea aria-label="Body, ${type}" rows="${rows}" spellcheck="false" autocomplete="off">
${text}</textarea>`
  }${isFile && html`<p><label>${isText ? 'or a file ' : 'File '}<input type="file"></label></p>`}</div>`
})}`
}

/** Alternatives of a schema; the schema itself if there is one. */
export const alternativesOf = (schema: Schema): readonly Schema[] => {
  const alternatives = schema.anyOf ?? schema.oneOf
  return alternatives === undefined ? [schema] : alternatives.flatMap(alternativesOf)
}

/** Type of a value: `string | null`, `"json" | "jsonl"`, `object[]`. */
export const typeText = (schema: Schema): string => {
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 1) return [...new Set(alternatives.map(typeText))].join(' | ')
  const [alternative = schema] = alternatives
  if (alternative.const !== undefined) return JSON.stringify(alternative.const)
  if (alternative.enum !== undefined) return alternative.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (alternative.items !== undefined) return listText(typeText(alternative.items))
  if (alternative.format === 'binary') return 'bytes'
  return [alternative.type ?? (alternative.properties === undefined ? 'any' : 'object')].flat().join(' | ')
}

const listText = (item: string): string => (item.includes(' | ') ? `(${item})[]` : `${item}[]`)

/** Constraints of a value: range, format and default. */
export const constraintText = (schema: Schema): string => {
  const constraints = alternativesOf(schema).flatMap((alternative) => [
    rangeText(alternative.minimum, alternative.maximum, ''),
    rangeText(alternative.minLength, alternative.maxLength, ' characters'),
    rangeText(alternative.minItems, alternative.maxItems, ' items'),
    alternative.format === undefined || alternative.format === 'binary' ? '' : alternative.format,
    alternative.pattern ?? '',
  ])
  const fallback = schema.default === undefined ? '' : `${JSON.stringify(schema.default)} if absent`
  return [...new Set([...constraints, fallback])].filter((text) => text !== '').join(', ')
}

const rangeText = (min: number | undefined, max: number | undefined, unit: string): string => {
  if (min === undefined && max === undefined) return ''
  if (max === undefined) return `at least ${min}${unit}`
  if (min === undefined) return `at most ${max}${unit}`
  return min === max ? `${min}${unit}` : `${min} to ${max}${unit}`
}
