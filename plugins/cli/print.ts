import { styleText } from 'node:util'
import { errorBody, errorOrigin, type Gateway, GuardError } from 'guard-gateway/core'
import { commandKind, type Input, type Io } from 'guard-gateway/lib/command'
import { thrownStack, thrownText } from 'guard-gateway/lib/errors'
import { showsColours, terminalWidth, wrapText } from 'guard-gateway/lib/terminal'
import { terminalText } from 'guard-gateway/lib/text'
import { nameCommands } from './command-names.ts'

/** How a process ends, by the meaning of the number. */
export const exits = {
  done: 0,
  failed: 1,
  usage: 2,
  unavailable: 69,
  config: 78,
  interrupted: 130,
  terminated: 143,
} as const

/** The exit code that an error calls for. */
export const exitOf = (error: unknown): number => {
  if (!(error instanceof GuardError)) return exits.failed
  if (misused.has(error.code)) return exits.usage
  if (unavailable.has(error.code)) return exits.unavailable
  return unusable.has(error.code) ? exits.config : exits.failed
}

/** What was typed cannot be used: said by this program, or by the gateway that it asked. */
const misused: ReadonlySet<string> = new Set(['INVALID_FILTER', 'INVALID_REQUEST', 'UNKNOWN_FORMAT', 'USAGE'])
const unavailable: ReadonlySet<string> = new Set([
  'DATABASE_DAMAGED',
  'DATABASE_LOCKED',
  'DATABASE_NEWER',
  'DATABASE_UNWRITABLE',
  'GATEWAY_NOT_RUNNING',
  'PORT_TAKEN',
  'SERVICE_FAILED',
  'SERVICE_UNAVAILABLE',
  'STORAGE_BUSY',
  'STORAGE_FULL',
  'STORAGE_UNAVAILABLE',
])
const unusable: ReadonlySet<string> = new Set([
  'DUPLICATE',
  'HOST_NOT_LOOPBACK',
  'INVALID_CONFIG',
  'INVALID_POLICY',
  'INVALID_YAML',
  'MISSING_PLUGIN',
  'UNKNOWN',
])

/** Prints an error on `io.err`, as text or with `--json` as one object; a stack only with `--verbose` or `--debug`. `gateway`: hides secrets, and knows what codes mean. */
export const printError = (error: unknown, options: Input['options'], io: Io, gateway?: Gateway): void => {
  const redact = (text: string): string => gateway?.redact.text(text) ?? text
  const known = error instanceof GuardError
  const named = (text: string): string =>
    gateway === undefined ? text : nameCommands(text, gateway.registry(commandKind), gateway.calledAs.here)
  const message = named(redact(known ? error.message : failure(error)))
  if (options.json === true) {
    const body = {
      ...errorBody(error),
      message,
      ...(known ? { hint: named(gateway?.errorCodes.get(error.code)?.help ?? error.entry.help) } : {}),
    }
    io.err.write(`${JSON.stringify({ error: body })}\n`)
    return
  }
  const code = known ? ` (${error.code})` : ''
  printLine(`${paint('red', 'error:', options, io)} ${terminalText(message)}${message.includes('\n') ? '' : code}`, io)
  if (options.verbose === true && error instanceof Error) io.err.write(`${terminalText(redact(thrownStack(error)))}\n`)
}

/** A sentence for people: on a terminal it is broken between words. */
const printLine = (text: string, { err }: Io): void =>
  void err.write(`${wrapText(text, terminalWidth(err) ?? Number.POSITIVE_INFINITY)}\n`)

const failure = (error: unknown): string => {
  const who = errorOrigin(error)
  return `The gateway failed${who === undefined ? '' : ` in ${who}`}: ${firstLine(error)}`
}

/** A plugin may throw anything, also what has no readable members. */
const firstLine = (error: unknown): string => {
  try {
    return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
  } catch {
    return thrownText(error)
  }
}

/** A command line that cannot be used: what is wrong, and where help is. */
export const printUsage = (
  message: string,
  options: Input['options'],
  io: Io,
  hint = 'Run "guard --help" for what there is.',
): void => {
  if (options.json === true)
    io.err.write(`${JSON.stringify({ error: { type: 'usage_error', code: 'USAGE', message, hint } })}\n`)
  else printLine(`${paint('red', 'error:', options, io)} ${terminalText([message, hint].join(' ').trimEnd())}`, io)
}

/** A line that deserves attention; `--quiet` hides it. */
export const printWarning = (message: string, options: Input['options'], io: Io): void => {
  if (options.quiet === true) return
  if (options.json === true) io.err.write(`${JSON.stringify({ warning: message })}\n`)
  else printLine(`${paint('yellow', 'warning:', options, io)} ${terminalText(message)}`, io)
}

/** A line that tells what went well; `--quiet` hides it. */
export const printNotice = (message: string, options: Input['options'], io: Io): void => {
  if (options.quiet === true) return
  io.err.write(`${options.json === true ? JSON.stringify({ notice: message }) : terminalText(message)}\n`)
}

/** Coloured text where somebody sees it in colour; it goes to `stream`, which is `err` if absent. */
export const paint = (
  colour: 'red' | 'yellow' | 'green' | 'dim',
  text: string,
  options: Input['options'],
  io: Io,
  stream: Io['err'] = io.err,
): string => (showsColours(stream, { options }, io) ? styleText(colour, text, { validateStream: false }) : text)
