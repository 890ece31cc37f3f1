import type { Input, Io } from '#lib/command'

/** Whether what is written to a stream is seen in colour: on a terminal, or where FORCE_COLOR says so, unless something switches it off. */
export const showsColours = (
  stream: NodeJS.WritableStream,
  { options }: Pick<Input, 'options'>,
  { env }: Pick<Io, 'env'>,
): boolean => {
  const { NO_COLOR, FORCE_COLOR = '', TERM } = env
  if (options.color === false || options.json === true || NO_COLOR || ['0', 'false'].includes(FORCE_COLOR)) return false
  return FORCE_COLOR !== '' || ('isTTY' in stream && stream.isTTY === true && TERM !== 'dumb')
}
