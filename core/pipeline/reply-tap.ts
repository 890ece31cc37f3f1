import type { ApiStyle, Meter, ReplyAbout } from '../contracts/api-style.ts'
import type { Decision } from '../decision.ts'
import type { EarlyEnd } from './relay.ts'
import { createTap, type Tap, unreadable } from './tap.ts'

type Fault = (error: unknown, where: string) => void

/** The meter of a reply, and what may end the reply early. */
export interface ReplyTap {
  readonly tap: Tap
  readonly ending: EarlyEnd | undefined
}

/** Creates the tap of a reply. If a style throws, `fault` reports it, and the reply passes without meter or listener. */
export const createReplyTap = (
  style: ApiStyle,
  about: ReplyAbout & { readonly encoding: string | undefined },
  watch: Decision['watch'],
  fault: Fault,
): ReplyTap => {
  const { stream, encoding } = about
  const attempt = <T>(where: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      fault(error, where)
    }
  }
  const metering = `meter:${style.id}`
  const listening = `listen:${style.id}`
  const meter = attempt(metering, () => needed(style.meter(about))) ?? blind
  const listened =
    watch === undefined
      ? undefined
      : attempt(listening, () =>
          style.listen?.({ meter, stream, listener: watch, fault: (error) => fault(error, listening) }),
        )
  const ending = watch === undefined || listened === undefined ? undefined : { listener: watch, listened }
  return { tap: createTap(listened?.meter ?? meter, encoding, (error) => fault(error, metering)), ending }
}

const needed = (meter: Meter | undefined): Meter => {
  if (meter === undefined || meter === null)
    throw new TypeError('a style gives a meter for each reply; this one gave none')
  return meter
}

/** In place of a meter that could not be made. */
const blind: Meter = {
  push() {},
  end: () => unreadable,
}
