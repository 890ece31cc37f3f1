import { randomBytes } from 'node:crypto'
import type { Storage } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'

/** Something that this installation made once and keeps. */
export interface InstallationRow {
  readonly id: string
  readonly value: string
}

declare module 'guard-gateway/core' {
  interface Tables {
    installation: InstallationRow
  }
}

const KEY_ID = 'argument_hash_key'

/** The key that this installation hashes arguments with, the same for tool calls in model replies and in MCP traffic; made at the first start. */
export const argumentKey = async (storage: Storage): Promise<string> => {
  await storage.put('installation', { id: KEY_ID, value: randomBytes(32).toString('hex') }, 'absent')
  const row = await storage.get('installation', KEY_ID)
  if (row === undefined) throw new GuardError('STORAGE_UNAVAILABLE', 'The key for argument hashes cannot be read back.')
  return row.value
}
