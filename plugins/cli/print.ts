import { styleText } from 'node:util'
import { errorBody, type Gateway, GuardError } from 'guard-gateway/core'
import { commandKind, type Input, type Io } from '#lib/command'
import { causesOf, thrownStack } from '#lib/errors'
import { showsColours, terminalWidth, wrapText } from '#lib/terminal'
import { terminalText } from '#lib/text'
import { nameCommands } from './command-names.ts'
import { faultOf } from './fault.ts'

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
  'PARSER_UNAVAILABLE',
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

/**
 * Prints an error on `io.err`, as text or with `--json` as one object. `gateway`: hides secrets, and knows what codes mean.
 * One that nobody foresaw has its causes and where in the code it came about; of others, `--verbose` and `--debug` show that.
 */
export const printError = (error: unknown, options: Input['options'], io: Io, gateway?: Gateway): void => {
  const redact = (text: string): string => gateway?.redact.text(text) ?? text
  const named = (text: string): string =>
    gateway === undefined ? text : nameCommands(text, gateway.registry(commandKind), gateway.calledAs.here)
  const fault = faultOf(error, gateway)
  const known = fault ?? { ...errorBody(error), hint: helpFor(error as GuardError, gateway) }
  const message = named(redact(known.message))
  if (options.json === true) {
    const lines = fault && { causes: fault.causes.map(redact), stack: fault.stack?.map(redact) }
    io.err.write(`${JSON.stringify({ error: { ...known, message, ...lines, hint: named(known.hint) } })}\n`)
    return
  }
  const text = fault === undefined ? message : `${message.replace(/\.$/, '')}. ${named(known.hint)}`
  const label = paint('red', 'error:', options, io)
  printLine(`${label} ${terminalText(text)}${message.includes('\n') ? '' : ` (${known.code})`}`, io)
  const stack = options.verbose === true ? causesOf(error).map(thrownStack).join('\n') : framesText(fault?.stack)
  if (stack !== '') io.err.write(`${terminalText(redact(stack))}\n`)
}

const helpFor = ({ code, entry }: GuardError, gateway: Gateway | undefined): string =>
  gateway?.errorCodes.get(code)?.help ?? entry.help

const framesText = (frames: readonly string[] = []): string => frames.map((frame) => `    at ${frame}`).join('\n')

/** A sentence for people: on a terminal it is broken between words. */
const printLine = (text: string, { err }: Io): void =>
  void err.write(`${wrapText(text, terminalWidth(err) ?? Number.POSITIVE_INFINITY)}\n`)

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
