import type { ApiStyle, Call, Match } from 'guard-gateway/core'
import { memberSpan } from '#lib/request-reader'

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

/** The text that tells a model of a repetition and of alternatives; it is added to the request as a user's message. `refuses`: the rule refuses what goes on. */
const nudgeFor = (match: Match, refuses: boolean): string =>
  `Guard has noticed a ${match.evidence === 'budget' ? 'budget that is used up' : 'repetition'}: ${match.message}. ${adviceFor(match)}${refuses ? ' If it goes on like this, the next request is refused.' : ''}`

const adviceFor = ({ code, evidence, tool }: Match): string => {
  if (evidence === 'budget') return 'Finish with what you have, and say what is left to do.'
  return byCode[code]?.(tool) ?? `Do not repeat it. ${otherwise}`
}

const otherwise = 'Try another way, or say what you need to go on.'

const orSay = 'If you cannot go on, say what you need.'

const nothingNew = () =>
  `Your last calls told you nothing new. Decide with what you know, look somewhere else, or change something before you look again. ${orSay}`

const byCode: Readonly<Record<string, (tool: string | undefined) => string>> = {
  LOOP_TOOL_CALL: (tool = 'the tool') =>
    `Do not call ${tool} with these arguments again: what it answered stands above. Use that answer, call it with other arguments, or take another tool. ${orSay}`,
  LOOP_TOOL_ERROR: (tool = 'the tool') =>
    `${tool} will fail again in the same way. Read its error, change what it complains about, or take another tool. ${orSay}`,
  LOOP_NO_PROGRESS: nothingNew,
  LOOP_STALE: nothingNew,
  LOOP_SEQUENCE: () => `Do not go through these steps again: they lead back to where they began. ${otherwise}`,
  LOOP_EXACT: () =>
    `The same request was answered before, and it has come again. Do not answer as before. ${otherwise}`,
}
