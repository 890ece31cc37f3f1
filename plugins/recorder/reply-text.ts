import { StreamSplitter } from '#lib/api-style'
import { type JsonObject, jsonIn, jsonObjectOf, listOf } from '#lib/json'

/**
 * Extracts text from the first bytes of a reply, JSON or a stream of events or JSON, in any known API style.
 * It reads only answer text, so it omits reasoning and encrypted content. Empty if there is none.
 */
export const replyText = (head: Uint8Array): string => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  const text = utf8.decode(bytes)
  const whole = text.startsWith('{') ? jsonIn(text) : undefined
  if (whole !== undefined) return jsonText(whole)
  const deltas: string[] = []
  const events = new StreamSplitter(
    (data, start, end) => void deltas.push(deltaText(jsonIn(data.toString('utf8', start, end)))),
  )
  events.push(bytes)
  return deltas.join('')
}

/** Skips a byte order mark. */
const utf8 = new TextDecoder()

const jsonText = (body: unknown): string => {
  const { content, choices, output } = jsonObjectOf(body)
  const messages = listOf(choices).map((choice) => jsonObjectOf(choice).message)
  const items = listOf(output).filter((item) => jsonObjectOf(item).type === 'message')
  const contents = [content, ...[...messages, ...items].map((message) => jsonObjectOf(message).content)]
  return contents.flatMap(textsOf).join('\n') || spokenText(jsonObjectOf(body))
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
  const deltas = listOf(choices).map((choice) => stringOf(jsonObjectOf(jsonObjectOf(choice).delta).content))
  return deltas.join('') || spokenText(jsonObjectOf(event))
}

/** Text where a reply and a piece of one have the same form: of Gemini's first candidate, without thoughts, and of Ollama. */
const spokenText = ({ candidates, message, response }: JsonObject): string => {
  const parts = listOf(jsonObjectOf(jsonObjectOf(listOf(candidates)[0]).content).parts).map(jsonObjectOf)
  const texts = parts.filter(({ thought }) => thought !== true).map(({ text }) => stringOf(text))
  return texts.join('') || stringOf(jsonObjectOf(message).content) || stringOf(response)
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
