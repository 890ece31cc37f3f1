import type { Body, Placed } from './description.ts'

const JSON_TYPE = 'application/json'

/** Where a command is sent, and what a line in a terminal begins with that calls the gateway's program. */
export interface Callers {
  readonly origin: string
  readonly guard: string
}

/** A command that asks for this; what stands in braces is to be filled in. */
export const exampleCommand = ({ method, path, operation }: Placed, { origin, guard }: Callers): string => {
  const lines = [`curl ${methodOption(method)}"${origin}${path}"`]
  if (operation.security !== undefined) lines.push(`-H "authorization: Bearer $(${guard} key print)"`)
  return [...lines, ...bodyOptions(operation.requestBody?.content ?? {})].join(' \\\n  ')
}

const methodOption = (method: string): string => (method === 'GET' ? '' : method === 'HEAD' ? '-I ' : `-X ${method} `)

/** What comes with a body: its type, and the example that its route gives, or a file. */
const bodyOptions = (content: NonNullable<Body['content']>): readonly string[] => {
  const [type = JSON_TYPE] = JSON_TYPE in content ? [JSON_TYPE] : Object.keys(content)
  const { schema, example = {} } = content[type] ?? {}
  if (schema === undefined) return []
  const body = schema.format === 'binary' ? "--data-binary '@{file}'" : `-d ${quoted(JSON.stringify(example))}`
  return [`-H 'content-type: ${type}'`, body]
}

/** As one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
