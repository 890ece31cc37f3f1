import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Gateway, Plugin } from 'guard-gateway/core'
import type { Refuse } from './config/faults.ts'
import { movedExportHint } from './moved-export.ts'

/** Applies the plugins that the named files export, file by file in the order of their names in the module. `refuse` is told of the first file that cannot be used. */
export const usePlugins = async (gateway: Gateway, files: readonly string[], refuse: Refuse): Promise<void> => {
  if (files.length > 0) (await import('./former-registries.ts')).addFormerRegistries(gateway)
  for (const [index, file] of files.entries()) {
    const wrong = (what: string, cause?: unknown) =>
      refuse([{ path: ['plugins', index], message: `${file} ${what}`, cause }])
    const exported = await load(file).catch(async (cause) =>
      wrong(
        `cannot be loaded as a plugin: ${loadErrorText(file, cause)}${await movedExportHint(cause as Error)}`,
        cause,
      ),
    )
    gateway.ownFiles.add(file)
    const plugins = Object.values(exported ?? {}).filter(isPlugin)
    if (plugins.length === 0) wrong('exports no plugin: an object with a name and an apply function.')
    try {
      gateway.use(...plugins)
    } catch (cause) {
      wrong(`cannot be applied: ${loadErrorText(file, cause)}`, cause)
    }
  }
}

const load = async (file: string) => (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>

/** An error message after the line that it names, in this file or in one that it loads. */
const loadErrorText = (file: string, error: unknown): string => {
  if (!existsSync(file)) return 'there is no such file.'
  const { message, stack = '' } = error as Error
  const [, unread, unreadLine] = /^(\S.*):(\d+)\n/.exec(stack) ?? []
  if (unread !== undefined) return `${basename(unread)}:${unreadLine}: ${message}`
  const [, line] = stack.split(pathToFileURL(file).href)[1]?.match(/^:(\d+):\d+/) ?? []
  return line === undefined ? message : `${basename(file)}:${line}: ${message}`
}

const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'apply' in value &&
  typeof value.apply === 'function'
