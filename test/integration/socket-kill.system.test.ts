import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { startChildGateway } from '../kit/child-gateway.ts'
import { socketClient } from '../kit/socket-client.ts'
import { socketProvider } from '../kit/socket-provider.ts'

it('a gateway that is killed has every request on record whose response a WebSocket has seen the end of', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-killed-socket-'))
  await using provider = await socketProvider()
  const seen = new Set<string>()
  try {
    const gateway = await startChildGateway(folder, provider.url)
    const clients = await Promise.all(
      Array.from({ length: 4 }, (_, index) => socketClient(gateway, { 'x-guard-session-id': `s${index}` })),
    )
    const work = clients.map(async (client, index) => {
      for (let turn = 0; ; turn++) {
        client.create(`${index}/${turn}`)
        const end = await client.end().catch(() => undefined)
        if (end === undefined) return
        seen.add(String(Reflect.get(end.response ?? {}, 'id')))
      }
    })
    while (seen.size < 60) await new Promise((resolve) => setTimeout(resolve, 5))
    await gateway.end('SIGKILL')
    await Promise.all(work)
    // what was safe in the redo log is moved into the database at the next start
    const again = await startChildGateway(folder, provider.url)
    await again.end('SIGTERM')
    const database = new Sqlite(join(folder, 'guard.db'), { readonly: true })
    const ids = database.prepare('SELECT response_id FROM calls').pluck().all()
    database.close()
    const missing = [...seen].filter((id) => !ids.includes(id))
    assert.deepEqual(missing, [])
    assert.ok(seen.size >= 60)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
