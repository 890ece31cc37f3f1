import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Gateway, Plugin } from 'guard-gateway/core'
import type { Refuse } from './config/config-errors.ts'
import { movedExportHint } from './moved-export.ts'

/** Applies the exported plugins of the files, in the order of files and of export names. `refuse` gets the first file that fails. */
export const usePlugins = async (gateway: Gateway, files: readonly string[], refuse: Refuse): Promise<void> => {
  if (files.length > 0) (await import('./former-registries.ts')).addFormerRegistries(gateway)
  for (const [index, file] of files.entries()) {
    const fail = (what: string, cause?: unknown) =>
      refuse([{ path: ['plugins', index], message: `${file} ${what}`, cause }])
    const exported = await load(file).catch(async (cause) =>
      fail(
        `cannot be loaded as a plugin: ${loadErrorText(file, cause)}${await movedExportHint(cause as Error)}`,
        cause,
      ),
    )
    gateway.ownFiles.add(file)
    const plugins = Object.values(exported ?? {}).filter(isPlugin)
    if (plugins.length === 0) fail('exports no plugin: an object with a name and an apply function.')
    try {
      gateway.use(...plugins)
    } catch (cause) {
      fail(`cannot be applied: ${loadErrorText(file, cause)}`, cause)
    }
  }
}

const load = async (file: string) => (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>

/** Error message with the source line that it names, in this file or in an imported one. */
const loadErrorText = (file: string, error: unknown): string => {
  if (!existsSync(file)) return 'there is no such file.'
  const { message, stack = '' } = error as Error
  const [, failedFile, failedLine] = /^(\S.*):(\d+)\n/.exec(stack) ?? []
  if (failedFile !== undefined) return `${basename(failedFile)}:${failedLine}: ${message}`
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
