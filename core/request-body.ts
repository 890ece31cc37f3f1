import { isUtf8 } from 'node:buffer'
import type { Conversation } from './call.ts'
import type { ApiStyle, Envelope } from './contracts/api-style.ts'
import { thrownBy } from './errors/thrower.ts'
import { GuardError } from './errors.ts'
import { BodyPrints, begins } from './request-body/body-prints.ts'
import { KeptBodies } from './request-body/kept-bodies.ts'
import { readAnew } from './request-body/read-anew.ts'
import { readOn } from './request-body/read-on.ts'
import type { Known } from './request-body/scan.ts'

/** A request as its style and the rules read it. */
export interface ReadRequest {
  readonly envelope: Envelope
  readonly conversation: Conversation
}

/** Smaller bodies are read anew each time: remembering them costs more. */
const WORTH_KEEPING = 2048

/** What is known of one element, hashes mostly. */
const ELEMENT_BYTES = 600

const kept = new KeptBodies<Known>(({ elements }) => elements.length * ELEMENT_BYTES)
const prints = new BodyPrints()

/**
 * Reads a request body for a style. Of a body that begins like earlier ones of the same `hint` (a session's id, or an empty text)
 * only what is new is parsed and hashed; one that begins like no other is remembered by a print alone.
 * Throws INVALID_BODY for anything but one JSON object within limits.
 */
export const readRequest = (style: ApiStyle, body: Buffer, hint: string): ReadRequest =>
  thrownBy(`api-style:${style.id}`, () => read(style, body, hint))

const read = (style: ApiStyle, body: Buffer, hint: string): ReadRequest => {
  if (!isUtf8(body)) throw new GuardError('INVALID_BODY', 'The request body is not UTF-8.')
  if (body.length < WORTH_KEEPING) return readAnew(style, body)
  const name = `${style.id} ${hint}`
  const bodies = kept.named(name)
  if (!bodies.some((earlier) => begins(body, earlier)) && !prints.continues(name, body)) return readAnew(style, body)
  const { request, known, earlier } = readOn(style, body, bodies)
  kept.keep(name, body, known, earlier)
  return request
}
