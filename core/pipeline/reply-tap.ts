import { type Ending, endingOf, heard } from '../../plugins/lib/api-style.ts'
import type { ApiStyle, Meter } from '../contracts/api-style.ts'
import type { Decision } from '../decision.ts'
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
  const speaking = `speech:${style.id}`
  const meter = attempt(metering, () => needed(style.meter({ status, stream }))) ?? blind
  const ending = attempt(speaking, () => endingOf(style, watch))
  const listened =
    ending === undefined
      ? meter
      : heard(meter, ending.speech, stream, ending.listener, (error) => fault(error, speaking))
  return { tap: createTap(listened, encoding, (error) => fault(error, metering)), ending }
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
