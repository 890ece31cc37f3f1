import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { AskJson } from '#lib/command'
import { writeNew } from './write-profile.ts'

const NAME = /^[A-Za-z0-9._-]{1,128}$/

/** Path of an agent's stored key. Throws USAGE for an id that is not a valid file name. */
export const keyFile = (folder: string, agent: string): string => {
  if (!NAME.test(agent) || agent.startsWith('.'))
    throw new GuardError('USAGE', `"${agent}" cannot be an agent's id. Use 1 to 128 of A-Z a-z 0-9 . _ -`)
  return join(folder, 'keys', agent)
}

/** Registers the agent if needed and stores a key for it. An existing key stays. */
export const storeAgentKey = async (
  ask: AskJson,
  folder: string,
  agent: string,
  project: string | undefined,
): Promise<string> => {
  const file = keyFile(folder, agent)
  if (existsSync(file)) return file
  const { key } = (await register(ask, agent, project)) as { readonly key: string }
  await writeNew(file, `${key}\n`)
  return file
}

const register = async (ask: AskJson, id: string, project_id: string | undefined): Promise<unknown> => {
  try {
    return await ask('POST', '/api/agents', { id, ...(project_id === undefined ? {} : { project_id }) })
  } catch (error) {
    if (!(error instanceof GuardError) || error.code !== 'AGENT_EXISTS') throw error
    return ask('POST', `/api/agents/${encodeURIComponent(id)}/keys`)
  }
}
