import type { Told } from './sender-attributes.ts'

/** A cost that a sender tells, in millionths of its currency. */
export interface SettledCost {
  readonly micro: number
  readonly currency: string
}

/** The sum that is told, else that of its parts; US dollars where no currency is named. */
export const settledCost = ({ cost, currency = 'USD' }: Told): SettledCost | undefined => {
  const whole = cost.get('cost')?.value
  if (whole !== undefined) return { micro: whole, currency }
  const input = cost.get('cost_input')
  const output = cost.get('cost_output')
  const part = input ?? output
  if (part === undefined) return undefined
  const isApart = part.sender?.input_holds_cached === false
  const others = isApart ? [input, output, cost.get('cost_other')] : [input, output]
  return { micro: others.reduce((sum, amount) => sum + (amount?.value ?? 0), 0), currency }
}
