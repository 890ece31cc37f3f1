import { resolve } from 'node:path'
import type { Environment } from './environment.ts'

/** Path of the configuration file, and whether the user named it. */
export const configFile = (
  named: string | undefined,
  env: Environment,
  cwd: string,
): { readonly file: string; readonly named: boolean } => {
  const chosen = named ?? (env.GUARD_CONFIG || undefined)
  return { file: resolve(cwd, chosen ?? 'guard-config.yml'), named: chosen !== undefined }
}
