import { commandKind } from 'guard-gateway/lib/command'

/** `guard stop-all`: pauses every session that is not paused, and lists all. */
export const stopAll = {
  name: 'stop-all',
  requires: ['sessions'],
  apply(gateway) {
    gateway.registry(commandKind).add({
      id: 'stop-all',
      summary: 'pause every session',
      run: async (_input, { out }) => {
        const records = gateway.service('records').need()
        const names = await records(async (ask) => {
          const { sessions } = await ask('GET', '/api/sessions')
          for (const { id, paused } of sessions)
            if (!paused) await ask('POST', `/api/sessions/${id}/pause`, { reason: 'all stop' })
          return sessions.map(({ external_id }) => external_id)
        })
        out.write(`${names.sort().join('\n')}\n`)
        return 0
      },
    })
  },
}
