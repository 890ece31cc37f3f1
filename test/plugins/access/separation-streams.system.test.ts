import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachBackend } from '../../kit/backends.ts'
import { GATEWAY_KEY, type Remote, remote } from './kit.ts'

const ingest = ({ ask }: Remote, project: string, name: string) =>
  ask('/api/v1/traces', {
    method: 'POST',
    key: GATEWAY_KEY,
    headers: { 'x-guard-project-id': project },
    body: { name, spans: [{ name: `span ${name}`, events: [{ name: `event.${name}` }] }] },
  })

/** Reads a stream until it holds a text. */
const readUntil = async (answer: Response, text: string): Promise<string> => {
  let all = ''
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    all += Buffer.from(chunk).toString()
    if (all.includes(text)) return all
  }
  return all
}

onEachBackend('streams', (backend) => {
  for (const kind of ['runs', 'events'])
    it(`of ${kind} tell a key that is bound to a project of that alone, also what it missed`, async () => {
      await using running = await remote({ backend })
      const { key } = await running.key(['read'], ['alpha'])
      const all = await running.key(['read'])
      const listen = (by: string, last?: string) =>
        fetch(`${running.url}/api/v1/stream?kind=${kind}`, {
          headers: { authorization: `Bearer ${by}`, ...(last === undefined ? {} : { 'last-event-id': last }) },
        })
      const [own, other] = await Promise.all([listen(key), listen(all.key)])
      await ingest(running, 'bravo', 'zebrafish')
      await ingest(running, 'alpha', 'ocelot')
      const [told, toldAll] = await Promise.all([readUntil(own, '"alpha"'), readUntil(other, '"alpha"')])
      assert.match(toldAll, /"bravo"/)
      assert.doesNotMatch(told, /bravo|zebrafish/)
      const [, begun = ''] = /id: (\S+)/.exec(told) ?? []
      const again = await readUntil(await listen(key, begun), '"alpha"')
      assert.doesNotMatch(again, /bravo|zebrafish/)
      assert.match(await readUntil(await listen(all.key, begun), '"alpha"'), /"bravo"/)
    })
  it('end with the key', async () => {
    await using running = await remote({ backend })
    const { key, id } = await running.key(['read'])
    const { key: admin } = await running.key(['admin'])
    const answer = await fetch(`${running.url}/api/v1/stream`, { headers: { authorization: `Bearer ${key}` } })
    await running.ask(`/api/keys/${id}`, { method: 'DELETE', key: admin })
    await ingest(running, 'alpha', 'ocelot')
    assert.doesNotMatch(await readUntil(answer, 'alpha').catch(String), /alpha/)
  })
  it('tell of notices of the own project alone', async () => {
    await using running = await remote({ backend })
    const { key } = await running.key(['read'], ['alpha'])
    const answer = await fetch(`${running.url}/api/v1/stream`, { headers: { authorization: `Bearer ${key}` } })
    for (const project_id of ['bravo', null, 'alpha'])
      running.gateway.hooks.notice.call({
        event: 'paused',
        subject: `subject of ${project_id}`,
        text: `text of ${project_id}`,
        path: '/',
        project_id,
      })
    const told = await readUntil(answer, 'text of alpha')
    assert.doesNotMatch(told, /bravo|null/)
  })
})

onEachBackend('long exports', (backend) => {
  it('go on in the name of whoever asked, however slowly they are read', async () => {
    await using running = await remote({ backend })
    const { key } = await running.key(['read'], ['alpha'])
    const { storage, clock } = running.gateway
    const rows = 3_000
    for (let at = 0; at < rows; at++) {
      const project_id = at % 2 === 0 ? 'alpha' : 'bravo'
      await storage.put('mcp_audit', {
        ...{ id: `aud_${at}`, at: clock.now(), seq: at, kind: 'event', name: 'session.began', project_id },
        reason: `${project_id} ${'x'.repeat(300)}`,
      } as never)
    }
    const answer = await fetch(`${running.url}/api/v1/mcp/export?format=jsonl`, {
      headers: { authorization: `Bearer ${key}` },
    })
    let text = ''
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(text.split('"type":"event"').length - 1, rows / 2)
    assert.doesNotMatch(text, /bravo/)
  })
})
