import { GuardError } from 'guard-gateway/core'
import type { Input } from '#lib/command'
import { isSessionName } from '#lib/session'
import { terminalLine } from '#lib/text'

const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** Text of a flag; undefined if absent. Throws USAGE for an empty one. */
export const textFlag = ({ options }: Pick<Input, 'options'>, name: string): string | undefined => {
  const value = options[name]
  if (value === '') throw new GuardError('USAGE', `--${name} needs a value.`)
  return typeof value === 'string' ? value : undefined
}

/** Project or agent flag. Throws USAGE for a name that the gateway rejects. */
export const nameFlag = (input: Pick<Input, 'options'>, name: string): string | undefined => {
  const value = textFlag(input, name)
  if (value === undefined || NAME.test(value)) return value
  throw new GuardError('USAGE', `--${name} takes 1 to 128 of A-Z a-z 0-9 . _ -, not "${terminalLine(value)}".`)
}

/** Session flag. Throws USAGE for a name that the gateway rejects. */
export const sessionFlag = (input: Pick<Input, 'options'>): string | undefined => printableFlag(input, 'session')

/** Model flag. Throws USAGE for a name that a profile cannot contain. */
export const modelFlag = (input: Pick<Input, 'options'>): string | undefined => printableFlag(input, 'model')

const printableFlag = (input: Pick<Input, 'options'>, name: string): string | undefined => {
  const value = textFlag(input, name)
  if (value === undefined || isSessionName(value)) return value
  throw new GuardError('USAGE', `--${name} takes 1 to 512 printable characters, not "${terminalLine(value)}".`)
}
