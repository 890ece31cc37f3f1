import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Command } from 'guard-gateway/lib/command'
import { keyFile } from './agent-key.ts'
import type { ClientsOptions } from './options.ts'

/** `guard key print`: prints the key of a client, for profiles that must not contain it. */
export const printKey = (options: ClientsOptions): Command => ({
  id: 'key print',
  summary: 'print the key that clients show, for use in scripts and profiles',
  options: {
    '--agent <id>': 'the key that setup stored for this agent',
    '--dir <folder>': 'the profiles folder; profiles if absent',
  },
  example: ['guard key print', 'GUARD_GATEWAY_KEY="$(guard key print)" my-agent'],
  async run(input, io) {
    const { agent, dir = 'profiles' } = input.options
    const key = typeof agent === 'string' ? await agentKey(resolve(io.cwd, String(dir)), agent) : options.gateway_key
    io.out.write(input.options.json === true ? `${JSON.stringify({ key })}\n` : `${key}\n`)
    return 0
  },
})

const agentKey = async (folder: string, agent: string): Promise<string> => {
  const file = keyFile(folder, agent)
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (cause) {
    throw new GuardError(
      'USAGE',
      `There is no key of agent "${agent}" in ${file}. Run "guard setup --agent ${agent}" first.`,
      { cause },
    )
  }
}
