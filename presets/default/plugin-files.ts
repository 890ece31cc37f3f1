import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { GuardError, type Plugin } from 'guard-gateway/core'
import type { Refuse } from './config/faults.ts'

/** The plugins that the named files export, file by file in the order of their names in the module. */
export const pluginsFrom = async (files: readonly string[], refuse: Refuse): Promise<readonly Plugin[]> => {
  const found: Plugin[] = []
  for (const [index, file] of files.entries()) {
    try {
      found.push(...(await pluginsOf(file)))
    } catch (error) {
      const { message, cause } = error as Error
      refuse([{ path: ['plugins', index], message, cause }])
    }
  }
  return found
}

const pluginsOf = async (file: string): Promise<readonly Plugin[]> => {
  const exported = Object.values(await load(file))
  const plugins = exported.filter(isPlugin)
  if (plugins.length > 0) return plugins
  throw new GuardError('INVALID_CONFIG', `${file} exports no plugin: an object with a name and an apply function.`)
}

const load = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    const why = existsSync(file) ? (cause as Error).message : 'there is no such file.'
    throw new GuardError('INVALID_CONFIG', `${file} cannot be loaded as a plugin: ${why}`, { cause })
  }
}

const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'apply' in value &&
  typeof value.apply === 'function'
