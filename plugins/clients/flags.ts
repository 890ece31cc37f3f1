import { GuardError } from 'guard-gateway/core'
import type { Input } from 'guard-gateway/lib/command'
import { isSessionName } from 'guard-gateway/lib/session'
import { terminalLine } from 'guard-gateway/lib/text'

const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** The text of a flag; undefined where it was not given. Throws USAGE for an empty one. */
export const textFlag = ({ options }: Pick<Input, 'options'>, name: string): string | undefined => {
  const value = options[name]
  if (value === '') throw new GuardError('USAGE', `--${name} needs a value.`)
  return typeof value === 'string' ? value : undefined
}

/** A flag that names a project or an agent. Throws USAGE for a name with which the gateway would refuse every request. */
export const nameFlag = (input: Pick<Input, 'options'>, name: string): string | undefined => {
  const value = textFlag(input, name)
  if (value === undefined || NAME.test(value)) return value
  throw new GuardError('USAGE', `--${name} takes 1 to 128 of A-Z a-z 0-9 . _ -, not "${terminalLine(value)}".`)
}

/** A flag that names a session. Throws USAGE for a text with which the gateway would refuse every request. */
export const sessionFlag = (input: Pick<Input, 'options'>): string | undefined => printableFlag(input, 'session')

/** A flag that names a model. Throws USAGE for a text that not every form of profile can hold. */
export const modelFlag = (input: Pick<Input, 'options'>): string | undefined => printableFlag(input, 'model')

const printableFlag = (input: Pick<Input, 'options'>, name: string): string | undefined => {
  const value = textFlag(input, name)
  if (value === undefined || isSessionName(value)) return value
  throw new GuardError('USAGE', `--${name} takes 1 to 512 printable characters, not "${terminalLine(value)}".`)
}
