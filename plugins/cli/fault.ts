import { dirname } from 'node:path'
import { errorCodes, errorOrigin, type Gateway, GuardError, withOrigin } from 'guard-gateway/core'
import { commandKind } from '#lib/command'
import { causeCode, causesOf, causeTexts, thrownStack } from '#lib/errors'
import { ownPluginKind } from '#lib/plugin-options'

export const cliErrors = errorCodes(500, 'api_error', {
  PLUGIN_FAILED: [
    'A plugin of your own failed',
    'Correct what the message names, or remove the plugin from plugins in guard-config.yml.',
  ],
})

/** What is known of an error that nobody foresaw. */
export interface Fault {
  readonly type: string
  readonly code: string
  readonly message: string
  /** Who failed, and in which hook or command, where that is known. */
  readonly plugin?: string
  readonly hook?: string
  readonly command?: string
  /** Of a plugin of the user's own. */
  readonly file?: string
  /** What the error and those that caused it say, outermost first. */
  readonly causes: readonly string[]
  /** Where in the code, innermost first; of a plugin no further than its own folder. Absent where no code is at fault, but what it met. */
  readonly stack?: readonly string[]
  readonly hint: string
}

/** Describes an error that is no refusal with who failed, why and what to do; undefined for any other. */
export const faultOf = (thrown: unknown, gateway: Gateway | undefined): Fault | undefined => {
  const inner = unforeseen(thrown)
  if (inner === undefined) return undefined
  const { hook, command, plugin } = originOf(thrown, inner.error)
  const file = fileOf(inner.error, plugin, gateway)
  const causes = causeTexts(inner.error)
  const stack = causeCode(inner.error) === undefined ? framesOf(inner.error, file) : []
  const { type, id, help } = file === undefined ? catalogueEntry : cliErrors.PLUGIN_FAILED
  const [place] = Object.entries({ hook, command }).filter(([, name]) => name !== undefined)
  const where = place === undefined ? '' : ` in its ${place[0]} "${place[1]}"`
  return {
    type,
    code: id,
    message: `${whoFailed(plugin, file)}${where}: ${causes.join(': ')}`,
    ...Object.fromEntries(Object.entries({ plugin, hook, command, file }).filter(([, value]) => value !== undefined)),
    causes,
    ...(stack.length === 0 ? {} : { stack }),
    hint: file === undefined ? ownHint(stack) : help,
  }
}

const catalogueEntry = new GuardError('INTERNAL').entry

/** The error of which nobody knew that it could come; one with a code of its own says all there is to say. */
const unforeseen = (thrown: unknown): { readonly error: unknown } | undefined => {
  if (!(thrown instanceof GuardError)) return { error: thrown }
  const { cause } = thrown.place
  return thrown.code === 'INTERNAL' && cause !== undefined ? { error: cause } : undefined
}

const originOf = (...errors: readonly unknown[]): Pick<Fault, 'hook' | 'command' | 'plugin'> =>
  ORIGIN.exec(errors.map(errorOrigin).find((origin) => origin !== undefined) ?? '')?.groups ?? {}

const ORIGIN = /^(?:command (?<command>[^:]+)|(?<hook>\w+)):(?<plugin>.+)$/

/** What a command threw, noted as thrown by it where it is one of a plugin of the user's own. */
export const thrownBy = (id: string, thrown: unknown, gateway: Gateway): unknown => {
  const owner = gateway.registry(commandKind).ownerOf(id)
  const own = gateway.registry(ownPluginKind).ids()
  const plugin = own.find((name) => owner.startsWith(`plugin "${name}"`))
  return plugin === undefined ? thrown : withOrigin(thrown, `command ${id}:${plugin}`)
}

const whoFailed = (plugin: string | undefined, file: string | undefined): string => {
  if (plugin === undefined) return file === undefined ? 'The gateway failed' : `The plugin ${file} failed`
  return `The plugin "${plugin}"${file === undefined ? '' : ` (${file})`} failed`
}

const ownHint = (stack: readonly string[]): string =>
  stack.length === 0
    ? 'Correct what the message names and try again.'
    : 'This is a fault of Guard Gateway: report it with these lines.'

/** The file of the user's plugin that failed: by its name, else by the stack. */
const fileOf = (thrown: unknown, plugin: string | undefined, gateway: Gateway | undefined): string | undefined => {
  if (gateway === undefined) return undefined
  const own = gateway.registry(ownPluginKind)
  const named = plugin === undefined ? undefined : own.get(plugin)?.file
  if (named !== undefined) return named
  const culprit = gateway.culpritOf(thrown)
  const isShipped = plugin === undefined || gateway.plugins().includes(plugin)
  // without a file in the stack, everybody's plugin would be blamed for ours
  return culprit !== undefined && isShipped && !gateway.ownFiles.has(culprit) ? undefined : culprit
}

const MAX_FRAMES = 8

const framesOf = (thrown: unknown, file: string | undefined): readonly string[] => {
  const cause = causesOf(thrown).at(-1)
  const frames = thrownStack(cause)
    .replace(messageOf(cause), '')
    .split(/\n +at /)
    .slice(1)
    .filter((frame) => !/\(?node:/.test(frame))
  const own = file === undefined ? frames.length : frames.findLastIndex((frame) => frame.includes(dirname(file))) + 1
  return frames.slice(0, Math.min(own, MAX_FRAMES))
}

/** The text that a stack begins with, which may have lines that look like places. */
const messageOf = (thrown: unknown): string => {
  try {
    return thrown instanceof Error ? thrown.message : ''
  } catch {
    return ''
  }
}
