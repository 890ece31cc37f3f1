import type { Body, LocatedOperation } from './description.ts'

const JSON_TYPE = 'application/json'

/** Origin of the gateway, and the command line of its program. */
export interface CommandContext {
  readonly origin: string
  readonly guard: string
}

/** A curl command for an operation. Braces mark the values to fill in. */
export const exampleCommand = (
  { method, path, operation }: LocatedOperation,
  { origin, guard }: CommandContext,
): string => {
  const lines = [`curl ${methodOption(method)}"${origin}${path}"`]
  if (operation.security !== undefined) lines.push(`-H "authorization: Bearer $(${guard} key print)"`)
  return [...lines, ...bodyOptions(operation.requestBody?.content ?? {})].join(' \\\n  ')
}

const methodOption = (method: string): string => (method === 'GET' ? '' : method === 'HEAD' ? '-I ' : `-X ${method} `)

/** Options for the body: its content type, and the route's example or a file. */
const bodyOptions = (content: NonNullable<Body['content']>): readonly string[] => {
  const [type = JSON_TYPE] = JSON_TYPE in content ? [JSON_TYPE] : Object.keys(content)
  const { schema, example = {} } = content[type] ?? {}
  if (schema === undefined) return []
  const body = schema.format === 'binary' ? "--data-binary '@{file}'" : `-d ${quoted(JSON.stringify(example))}`
  return [`-H 'content-type: ${type}'`, body]
}

/** Quotes a word for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
