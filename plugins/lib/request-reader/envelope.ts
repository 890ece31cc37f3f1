import type { ApiStyle, Envelope } from 'guard-gateway/core'

/** What a style reads around the list, frozen: later requests that say the same there share it. */
export const envelopeOf = (style: ApiStyle, members: Readonly<Record<string, unknown>>): Envelope => {
  const envelope = style.envelope(members)
  Object.freeze(envelope.before)
  Object.freeze(envelope.after)
  Object.freeze(envelope.hints)
  return Object.freeze(envelope)
}
