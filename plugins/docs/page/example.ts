import type { Body, LocatedOperation } from './description.ts'

const JSON_TYPE = 'application/json'

/** Origin of the gateway, the command that prints its key, and values by parameter name. */
export interface CommandContext {
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
  const given = (operation.parameters ?? []).flatMap(({ name, in: location }) => {
    const value = values.get(name) ?? ''
    return value === '' ? [] : [{ name, location, value: encoded(value) }]
  })
  const paths = given.filter(({ location }) => location === 'path')
  const query = given.filter(({ location }) => location === 'query').map(({ name, value }) => `${name}=${value}`)
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
