import type { ApiStyle, Envelope } from 'guard-gateway/core'

/** The envelope that a style reads from the members beside the list. It is frozen, since later requests with the same bytes share it. */
export const envelopeOf = (style: ApiStyle, members: Readonly<Record<string, unknown>>): Envelope => {
  const envelope = style.envelope(members)
  Object.freeze(envelope.before)
  Object.freeze(envelope.after)
  Object.freeze(envelope.hints)
  return Object.freeze(envelope)
}
