import type { Input, Io } from 'guard-gateway/lib/command'

/** Prints a line that helps and is no result, for people who read along; `--quiet` hides it. */
export const hint = (text: string, { options }: Pick<Input, 'options'>, { err }: Pick<Io, 'err'>): void => {
  if (options.quiet !== true) err.write(`${text}\n`)
}
