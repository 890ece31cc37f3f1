import type { ApiStyle, Call, Match } from 'guard-gateway/core'
import { memberSpan } from '#lib/request-reader'
import { nudgeFor } from './nudge.ts'

const OPEN_ARRAY = 0x5b
const QUOTE = 0x22

/** Steers a request if its body can be changed; a compressed one cannot. Returns the match with the result. */
export const steer = (match: Match, call: Call, style: ApiStyle | undefined, refuses: boolean): Match => {
  const body = style === undefined ? undefined : withText(call, style, nudgeFor(match, refuses))
  if (body !== undefined) call.steered_body = body
  return { ...match, steered: body !== undefined }
}

/** The body with a user message added at the end of its conversation; undefined if it cannot be added. */
const withText = ({ body, headers }: Call, style: ApiStyle, text: string): Buffer | undefined => {
  const encoding = headers['content-encoding'] ?? 'identity'
  const { nudge } = style
  const span = encoding === 'identity' ? memberSpan(body, style.list) : undefined
  if (nudge === undefined || span === undefined) return undefined
  const list = body.subarray(span.start, span.end)
  const longer = lengthened(list, JSON.stringify(nudge(text)), (longText) => JSON.stringify(nudge(longText)))
  return longer === undefined
    ? undefined
    : Buffer.concat([body.subarray(0, span.start), longer, body.subarray(span.end)])
}

/** A list with one more element. A text, which stands for a list of one message, becomes that list. */
const lengthened = (list: Buffer, added: string, message: (text: string) => string): Buffer | undefined => {
  if (list[0] === QUOTE) return Buffer.from(`[${message(JSON.parse(list.toString()))},${added}]`)
  if (list[0] !== OPEN_ARRAY) return undefined
  const held = list.subarray(0, -1)
  const comma = held.subarray(1).toString('latin1').trim() === '' ? '' : ','
  return Buffer.concat([held, Buffer.from(`${comma}${added}]`)])
}
