import { resolve } from 'node:path'
import type { Environment } from './environment.ts'

/** Where the configuration file is looked for, and whether somebody named it. */
export const configFile = (
  named: string | undefined,
  env: Environment,
  cwd: string,
): { readonly file: string; readonly named: boolean } => {
  const chosen = named ?? (env.GUARD_CONFIG || undefined)
  return { file: resolve(cwd, chosen ?? 'guard-config.yml'), named: chosen !== undefined }
}
