import { type ApiStyle, type Call, type Match, memberSpan, type Place } from 'guard-gateway/core'
import type { History } from './history.ts'

const OPEN_ARRAY = 0x5b

/** Steers a request, if its body can be changed, a compressed one for example cannot: the match as it is told then. */
export const steer = (match: Match, call: Call, style: ApiStyle | undefined): Match => {
  const body = style === undefined ? undefined : withText(call, style, textOf(match))
  if (body !== undefined) call.steered_body = body
  return { ...match, steered: body !== undefined }
}

/** The match's rule has steered this conversation within its window, or would have: it is refused now. Another attempt of a request that was steered is steered like it. */
export const hasSteered = (
  { rule_id, window_size }: Match,
  { thread, original }: Place,
  { window }: History,
): boolean => {
  const reach = window_size === 0 ? window.length : Math.min(window_size, window.length)
  for (let index = 0; index < reach; index++) {
    const row = window[index]
    if (row === undefined || row === original || row.thread !== thread) continue
    if (row.matches.some((earlier) => earlier.rule_id === rule_id && earlier.steered !== undefined)) return true
  }
  return false
}

const textOf = ({ message }: Match): string =>
  `Guard has noticed a repetition: ${message}. Do not repeat it. Try another way, or say what you need to go on.`

/** The body with one more user message at the end of its conversation; undefined if it cannot be added. */
const withText = ({ body, headers }: Call, style: ApiStyle, text: string): Buffer | undefined => {
  const encoding = headers['content-encoding'] ?? 'identity'
  const span = encoding === 'identity' ? memberSpan(body, style.list) : undefined
  if (style.nudge === undefined || span === undefined || body[span.start] !== OPEN_ARRAY) return undefined
  const close = span.end - 1
  const comma =
    body
      .subarray(span.start + 1, close)
      .toString('latin1')
      .trim() === ''
      ? ''
      : ','
  const added = Buffer.from(comma + JSON.stringify(style.nudge(text)))
  return Buffer.concat([body.subarray(0, close), added, body.subarray(close)])
}
