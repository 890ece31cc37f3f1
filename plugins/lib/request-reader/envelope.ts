import type { Envelope } from 'guard-gateway/core'
import { objectsIn } from '#lib/api-style'
import type { Spoken } from './spoken.ts'

/** The envelope that a style reads from the members beside the list. It is frozen, since later requests with the same bytes share it. */
export const envelopeOf = ({ style, target }: Spoken, members: Readonly<Record<string, unknown>>): Envelope => {
  const read = style.envelope(members, target)
  const objects = objectsIn(members)
  const envelope = objects.length === 0 ? read : { ...read, objects }
  Object.freeze(envelope.before)
  Object.freeze(envelope.after)
  Object.freeze(envelope.hints)
  return Object.freeze(envelope)
}
