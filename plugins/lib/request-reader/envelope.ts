import type { Envelope } from 'guard-gateway/core'
import type { Spoken } from './spoken.ts'

/** The envelope that a style reads from the members beside the list. It is frozen, since later requests with the same bytes share it. */
export const envelopeOf = ({ style, target }: Spoken, members: Readonly<Record<string, unknown>>): Envelope => {
  const envelope = style.envelope(members, target)
  Object.freeze(envelope.before)
  Object.freeze(envelope.after)
  Object.freeze(envelope.hints)
  return Object.freeze(envelope)
}
