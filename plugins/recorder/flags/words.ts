import { costText, countText } from '#lib/format'
import type { Savings, SinceFlag } from '#lib/trace'

/** A sum of money, or its tokens where nothing is priced: `14.25 USD (1.9M tokens)`, `1.9M tokens`. `unit`: the currency. */
export const spentText = ({ tokens_since_flag, cost_since_flag_micro }: SinceFlag, unit: string): string => {
  const tokens = `${countText(tokens_since_flag)} tokens`
  return cost_since_flag_micro === 0 ? tokens : `${costText(cost_since_flag_micro)} ${unit} (${tokens})`
}

/** `1 session`, `38 requests` */
export const counted = (count: number, noun: string): string => `${countText(count)} ${noun}${count === 1 ? '' : 's'}`

/** What enforcing would have saved, as a sentence. `time`: `in the last seven days`. */
export const savedText = (saved: Savings, unit: string, time: string): string =>
  saved.requests_since_flag === 0
    ? `Enforced, this would have saved nothing ${time}: no rule that refuses has flagged a request.`
    : `Enforced, this would have saved at most ${spentText(saved, unit)} ${time}: ${counted(saved.requests_since_flag, 'request')} of ${counted(saved.sessions, 'session')} that went on after a flag.`

/** What was refused, as a sentence; empty where nothing was. */
export const blockedText = ({
  blocked,
  blocked_retries,
}: {
  readonly blocked: number
  readonly blocked_retries: number
}): string =>
  blocked === 0
    ? ''
    : `${counted(blocked + blocked_retries, 'request')} ${blocked + blocked_retries === 1 ? 'was' : 'were'} blocked and cost nothing.`

/** Why it is not more exact. */
export const AT_MOST = 'At most: an agent that is refused may go on in another way.'
