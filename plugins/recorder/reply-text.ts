import { jsonObjectOf, listOf } from 'guard-gateway/lib/json'
import { EventSplitter } from 'guard-gateway/lib/sse'

/**
 * Extracts text from the first bytes of a reply, JSON or event stream, in any known API style.
 * It reads only answer text, so it omits reasoning and encrypted content. Empty if there is none.
 */
export const replyText = (head: Uint8Array): string => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  const text = utf8.decode(bytes)
  if (text.startsWith('{')) return jsonText(parsed(text))
  const deltas: string[] = []
  const events = new EventSplitter(
    (data, start, end) => void deltas.push(deltaText(parsed(data.toString('utf8', start, end)))),
  )
  events.push(bytes)
  return deltas.join('')
}

/** Skips a byte order mark. */
const utf8 = new TextDecoder()

/** Undefined for incomplete or empty JSON. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const jsonText = (body: unknown): string => {
  const { content, choices, output } = jsonObjectOf(body)
  const messages = listOf(choices).map((choice) => jsonObjectOf(choice).message)
  const items = listOf(output).filter((item) => jsonObjectOf(item).type === 'message')
  const contents = [content, ...[...messages, ...items].map((message) => jsonObjectOf(message).content)]
  return contents.flatMap(textsOf).join('\n')
}

/** Content is text, or a list of blocks. */
const textsOf = (content: unknown): readonly string[] =>
  typeof content === 'string'
    ? [content]
    : listOf(content)
        .map(jsonObjectOf)
        .filter(isText)
        .map(({ text }) => stringOf(text))

const isText = ({ type }: Readonly<Record<string, unknown>>): boolean => type === 'text' || type === 'output_text'

const deltaText = (event: unknown): string => {
  const { type, delta, choices } = jsonObjectOf(event)
  if (type === 'response.output_text.delta') return stringOf(delta)
  if (type === 'content_block_delta')
    return jsonObjectOf(delta).type === 'text_delta' ? stringOf(jsonObjectOf(delta).text) : ''
  return listOf(choices)
    .map((choice) => stringOf(jsonObjectOf(jsonObjectOf(choice).delta).content))
    .join('')
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
