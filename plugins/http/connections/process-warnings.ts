import type { Gateway } from 'guard-gateway/core'
import type { Io } from 'guard-gateway/lib/command'

/** As much of a process as its warnings need. */
export type WarningSource = Pick<NodeJS.Process, 'listeners' | 'on' | 'off' | 'removeAllListeners'>

/** Writes warnings of Node, such as those about deprecated functions, as lines of JSON in place of Node's own text. Returns a function that undoes it. */
export const jsonWarnings = (
  { redact }: Pick<Gateway, 'redact'>,
  { err }: Pick<Io, 'err'>,
  process: WarningSource = globalThis.process,
): (() => void) => {
  const own = process.listeners('warning')
  const write = ({ name, message }: Error): void =>
    void err.write(`${JSON.stringify({ warning: redact.text(`${name}: ${message}`) })}\n`)
  process.removeAllListeners('warning')
  process.on('warning', write)
  return () => {
    process.off('warning', write)
    for (const listener of own) process.on('warning', listener)
  }
}
