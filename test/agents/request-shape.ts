import type { IncomingMessage } from 'node:http'

/** A request as a client sends it: where to, with which headers and members; no key and no text of a conversation. */
export interface RequestShape {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Names of the body's members, with the values of those that are short texts. */
  readonly body: Readonly<Record<string, string>>
}

const CREDENTIALS = /^(?:authorization|x-api-key|api-key|x-goog-api-key|x-guard-key|cookie)$/
const PLUMBING =
  /^(?:host|connection|content-length|content-type|accept|accept-encoding|accept-language|transfer-encoding)$/
const SHORT = 120

export const shapeOf = ({ url = '', headers }: IncomingMessage, text: string): RequestShape => ({
  path: url,
  headers: Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (PLUMBING.test(name)) return []
      return [[name, CREDENTIALS.test(name) ? '(a key)' : String(value)]]
    }),
  ),
  body: text.startsWith('{') ? membersOf(JSON.parse(text)) : {},
})

const membersOf = (body: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const shown = JSON.stringify(value)
      return [name, shown.length <= SHORT ? shown : `(${shown.length} characters)`]
    }),
  )
