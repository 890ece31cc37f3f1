import type { ApiStyle } from '../contracts/api-style.ts'
import type { Meter } from '../contracts/meter.ts'
import type { Decision } from '../decision.ts'
import type { Ending } from './relay.ts'
import { createTap, type Tap, unread } from './tap.ts'

type Fault = (error: unknown, where: string) => void

/** What watches a reply on its way, and what may end it early. */
export interface Watched {
  readonly tap: Tap
  readonly ending: Ending | undefined
}

/** Watches a reply of a style; a style that fails at it is told to `fault`, and the reply passes unread or unheard. */
export const watched = (
  style: ApiStyle,
  about: { readonly status: number; readonly stream: boolean; readonly encoding: string | undefined },
  watch: Decision['watch'],
  fault: Fault,
): Watched => {
  const { status, stream, encoding } = about
  const attempt = <T>(where: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      fault(error, where)
    }
  }
  const metering = `meter:${style.id}`
  const listening = `listen:${style.id}`
  const meter = attempt(metering, () => needed(style.meter({ status, stream }))) ?? blind
  const listened =
    watch === undefined
      ? undefined
      : attempt(listening, () =>
          style.listen?.({ meter, stream, listener: watch, fault: (error) => fault(error, listening) }),
        )
  const ending =
    watch === undefined || listened === undefined ? undefined : { listener: watch, events: () => listened.ending() }
  return { tap: createTap(listened?.meter ?? meter, encoding, (error) => fault(error, metering)), ending }
}

const needed = (meter: Meter | undefined): Meter => {
  if (meter === undefined || meter === null)
    throw new TypeError('a style gives a meter for each reply; this one gave none')
  return meter
}

/** Reads nothing: whoever should, failed. */
const blind: Meter = {
  push() {},
  end: () => unread,
}
