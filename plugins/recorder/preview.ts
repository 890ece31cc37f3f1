import type { ApiStyle, Call, Part, Redactor, Settled } from 'guard-gateway/core'
import { isPlain } from 'guard-gateway/core'
import { withInflated } from '#lib/http'
import { jsonObjectOf, listOf } from '#lib/json'
import { cutBeforeRedaction, cutText, dropUnfinishedWord } from '#lib/text'
import { replyText } from './reply-text.ts'

/** Characters of a stored preview. */
export const PREVIEW_CHARS = 500
/** Characters of redacted input; later ones cannot appear in a preview. */
const INPUT_CHARS = 8_192
const MAX_INFLATED_BYTES = 64 * 1024 * 1024

/** New part of a conversation: user text and tool results since the last assistant turn; null if unknown. */
export const requestPreview = async (
  call: Call,
  style: ApiStyle,
  redact: Pick<Redactor, 'text'>,
): Promise<string | null> => {
  const encoding = call.headers['content-encoding']
  const read = (plain: Buffer): string =>
    newest(call, style, listOf(jsonObjectOf(JSON.parse(plain.toString()))[style.list]))
  const text = isPlain(encoding) ? read(call.body) : await withInflated(call.body, encoding, MAX_INFLATED_BYTES, read)
  return preview(text, false, redact)
}

/** Start of the reply's text, or the provider's error message; never reasoning. Null if there is neither. */
export const responsePreview = (settled: Settled, redact: Pick<Redactor, 'text'>): string | null => {
  const { head, error, bytes_out } = settled
  return error === null
    ? preview(replyText(head), bytes_out > head.length, redact)
    : preview(error.message, false, redact)
}

/** Redacts before truncation, because half a secret would remain otherwise. `truncated`: the input was already cut. */
const preview = (text: string, truncated: boolean, redact: Pick<Redactor, 'text'>): string | null => {
  const input =
    truncated && text.length <= INPUT_CHARS ? dropUnfinishedWord(text) : cutBeforeRedaction(text, INPUT_CHARS)
  if (input === '') return null
  return cutText(redact.text(input), PREVIEW_CHARS)
}

const newest = (call: Call, style: ApiStyle, list: readonly unknown[]): string => {
  const { before, after } = call.envelope
  const backwards: string[] = []
  let isDone = collectTexts(after, backwards)
  for (let index = list.length - 1; index >= 0 && !isDone; index--)
    isDone = collectTexts(style.parts(list[index]), backwards)
  if (!isDone) collectTexts(before, backwards)
  return backwards.reverse().join('\n')
}

/** Collects the texts of the parts, last first. True at an assistant turn, which ends the search. */
const collectTexts = (parts: readonly Part[], backwards: string[]): boolean => {
  const found: string[] = []
  let turn = false
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'call') turn = true
    else if (part.kind !== 'system' && part.text !== '') found.push(part.text)
  }
  for (const text of found.reverse()) backwards.push(text)
  return turn && backwards.length > 0
}
