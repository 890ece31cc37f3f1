import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One request of a real client: its form, with filler where words stood. */
export interface RecordedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/** The requests of one session of a client, in order. */
export interface Recording {
  readonly name: string
  readonly requests: readonly RecordedRequest[]
}

const folders = [
  join(import.meta.dirname, '../data/fixtures'),
  // further recordings may lie beside the project
  join(import.meta.dirname, '../../../shared/fixtures'),
]

/** Every recording there is. */
export const recordings = (): readonly Recording[] =>
  folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => ({ name, requests: requestsIn(readFileSync(join(folder, name), 'utf8')) })),
  )

/** Headers that whoever sends the request sets. */
const ownHeaders = new Set(['host', 'content-length', 'connection', 'accept-encoding', 'authorization'])

const requestsIn = (text: string): RecordedRequest[] =>
  (JSON.parse(text) as RecordedRequest[]).map(({ url, headers, body }) => ({
    url,
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => !ownHeaders.has(name))
        .map(([name, value]) => [name, String(filled(value))]),
    ),
    body: { ...(filled(body) as object), ...toolsOf(url, body.tools) },
  }))

/** `<text:N>` and `<N chars>` become N characters of filler. */
const filled = (value: unknown): unknown => {
  if (typeof value === 'string')
    return value.replaceAll(/<text:(\d+)>|<(\d+) chars>/g, (_, a?: string, b?: string) => filler(Number(a ?? b)))
  if (Array.isArray(value)) return value.map(filled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, filled(child)]))
}

const filler = (length: number): string => 'lorem ipsum dolor sit amet '.repeat(length / 27 + 1).slice(0, length)

/** `["<12 tools>"]` becomes twelve definitions of the path's style. */
const toolsOf = (url: string, tools: unknown): { readonly tools?: readonly object[] } => {
  const [, count] = /^<(\d+) tools>$/.exec(Array.isArray(tools) ? String(tools[0]) : '') ?? []
  if (count === undefined) return {}
  return { tools: Array.from({ length: Number(count) }, (_, n) => toolOf(url, `tool_${n}`)) }
}

const parameters = { type: 'object', properties: { text: { type: 'string' } } }
const toolOf = (url: string, name: string): object => {
  if (url.includes('messages')) return { name, input_schema: parameters }
  return url.includes('responses')
    ? { type: 'function', name, parameters }
    : { type: 'function', function: { name, parameters } }
}

/** The recordings repeat one command; here each call asks for something else, the same in every later request. */
export const varied = (request: RecordedRequest): RecordedRequest => {
  let count = 0
  const text = JSON.stringify(request.body).replaceAll('echo same', () => `echo step ${count++}`)
  return { ...request, body: JSON.parse(text) as RecordedRequest['body'] }
}
