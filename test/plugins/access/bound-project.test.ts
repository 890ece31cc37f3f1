import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachBackend } from '../../kit/backends.ts'
import { type Remote, remote } from './kit.ts'

onEachBackend('a key that is bound to projects', (backend) => {
  let running: Remote
  before(async () => {
    running = await remote({ backend })
  })
  after(() => running[Symbol.asyncDispose]())

  const ingest = (key: string, project?: string) =>
    running.ask('/api/v1/traces', {
      method: 'POST',
      key,
      body: { name: 'run' },
      headers: project === undefined ? {} : { 'x-guard-project-id': project },
    })
  const projectOf = (answer: { json: Record<string, unknown> }) =>
    (answer.json.run as { project_id?: string } | undefined)?.project_id

  it('stands for its one project where none is named', async () => {
    const { key } = await running.key(['ingest'], ['shop'])
    assert.equal(projectOf(await ingest(key)), 'shop')
    assert.equal(projectOf(await ingest(key, 'shop')), 'shop')
  })
  it('is refused for another project', async () => {
    const { key } = await running.key(['ingest', 'models', 'mcp'], ['shop'])
    const headers = { 'x-guard-project-id': 'bank' }
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }
    for (const path of ['/api/v1/traces', '/v1/traces', '/v1/messages', '/mcp/none']) {
      const answer = await running.ask(path, { method: 'POST', key, headers, body })
      assert.equal(answer.status, 403, `${path}: ${answer.text}`)
      assert.match(answer.text, /bound to shop/, path)
    }
    assert.match((await ingest(key, 'bank')).text, /"PROJECT_NOT_ALLOWED"/)
  })
  it('must name one of several', async () => {
    const { key } = await running.key(['ingest'], ['shop', 'bank'])
    assert.match((await ingest(key)).text, /"PROJECT_REQUIRED"/)
    assert.equal(projectOf(await ingest(key, 'bank')), 'bank')
  })
  it('cannot tell of the gateway as a whole', async () => {
    const { key } = await running.key(['admin'], ['shop'])
    for (const path of ['/metrics', '/api/v1/retention'])
      assert.match((await running.ask(path, { key })).text, /"PROJECT_NOT_ALLOWED"/, path)
  })
})
