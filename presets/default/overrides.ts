import { mkdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { GuardError, type Input } from 'guard-gateway/core'
import type { Config } from './schema.ts'

/** The configuration with what flags of the command line say instead. `cwd` is where a relative path begins. */
export const overridden = (config: Config, { host, port, data }: Input['options'], cwd: string): Config => ({
  ...config,
  server: {
    ...config.server,
    ...(typeof host === 'string' ? { host } : {}),
    ...(typeof port === 'string' ? { port: portOf(port) } : {}),
  },
  storage: { ...config.storage, ...(typeof data === 'string' ? { file: databaseAt(data, cwd) } : {}) },
})

const portOf = (text: string): number => {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new GuardError('USAGE', `--port takes a number from 0 to 65535, not "${text}".`)
}

/** A folder that is there, or a path that ends in a slash, holds guard.db; anything else is the file. */
const databaseAt = (path: string, cwd: string): string => {
  const full = resolve(cwd, path)
  if (/[/\\]$/.test(path)) mkdirSync(full, { recursive: true, mode: 0o700 })
  return statSync(full, { throwIfNoEntry: false })?.isDirectory() ? join(full, 'guard.db') : full
}
