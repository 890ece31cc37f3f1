import type { Gateway, Plugin } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import type {} from 'guard-gateway/lib/session'

/** `guard waiting` lists the sessions that wait for a person. Its exit code is 1 if there are any, for scripts and status bars. */
export const waiting: Plugin = {
  name: 'waiting',
  requires: ['sessions'],
  apply(gateway) {
    gateway.registry(commandKind).add({
      id: 'waiting',
      summary: 'sessions that wait for a person',
      options: { '--project <id>': 'of this project alone' },
      example: 'guard waiting --project shop',
      run: async ({ options }, { out }) => {
        const sessions = await pausedSessions(gateway, options.project)
        for (const { id, pause_reason } of sessions) out.write(`${id}  ${pause_reason ?? 'no reason given'}\n`)
        return sessions.length === 0 ? 0 : 1
      },
    })
  },
}

/** A command opens and closes its own gateway. `beside` allows another running gateway on the same storage. */
const pausedSessions = async (gateway: Gateway, project: unknown) => {
  await gateway.open({ beside: true })
  try {
    const of = typeof project === 'string' ? { project_id: project } : {}
    const { rows } = await gateway.storage.find('sessions', { where: { paused: true, ...of }, limit: 100 })
    return rows
  } finally {
    await gateway.close()
  }
}
