import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { dialects } from '../kit/dialogue.ts'
import { errorOf, type Service, startService } from '../kit/service.ts'

const session = { 'x-guard-session-id': 'one' }

describe('3 states', () => {
  for (const mode of ['shadow', 'enforce'])
    for (const dialect of dialects) {
      it(`session not paused → paused: 409 in ${mode} mode, style ${dialect.style}; → not paused: evaluated normally`, async () => {
        await using service = await startService({ config: `default_mode: ${mode}` })
        const ask = (user: string) => service.send(dialect, [{ user }], session)
        const id = (await ask('before')).headers.get('x-guard-session-id')
        const paused = await service.request('POST', `/api/sessions/${id}/pause`)
        assert.equal((paused.json as { session: { paused: boolean } }).session.paused, true)
        const blocked = await ask('while')
        assert.deepEqual(
          [blocked.status, errorOf(blocked).type, errorOf(blocked).code, errorOf(blocked).session_id],
          [409, 'guard_block', 'PAUSED_SESSION', id],
        )
        assert.equal(service.provider.requests.length, 1)
        const resumed = await service.request('POST', `/api/sessions/${id}/resume`)
        assert.equal((resumed.json as { session: { paused: boolean } }).session.paused, false)
        assert.equal((await ask('after')).status, 200)
      })
      it(`agent not paused → paused: 409 by its key in ${mode} mode, style ${dialect.style}; → not paused: evaluated normally`, async () => {
        await using service = await startService({ config: `default_mode: ${mode}` })
        const made = await service.request('POST', '/api/agents', { id: 'builder' })
        const authorization = `Bearer ${(made.json as { key: string }).key}`
        const ask = (user: string) => service.send(dialect, [{ user }], { ...session, authorization })
        assert.equal((await ask('before')).status, 200)
        assert.equal((await service.request('POST', '/api/agents/builder/pause')).status, 200)
        const blocked = await ask('while')
        assert.deepEqual([blocked.status, errorOf(blocked).code], [409, 'PAUSED_AGENT'])
        assert.equal((await service.send(dialect, [{ user: 'another agent' }])).status, 200)
        assert.equal((await service.request('POST', '/api/agents/builder/resume')).status, 200)
        assert.equal((await ask('after')).status, 200)
      })
    }

  it('a pause also holds back counting tokens, with the same local body', async () => {
    await using service = await startService()
    const { json } = await service.request('POST', '/api/agents', { id: 'builder' })
    const authorization = `Bearer ${(json as { key: string }).key}`
    await service.send(dialects[0] ?? assert.fail(), [{ user: 'hi' }], session)
    const { id } = await service.session('one')
    const count = async (headers: Readonly<Record<string, string>>) => {
      const body = { model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }
      const answer = await service.request('POST', '/v1/messages/count_tokens', body, headers)
      const { type, code, session_id, rule_id } = errorOf(answer)
      return [answer.status, type, code, session_id, rule_id]
    }
    for (const path of ['/api/agents/builder', '/api/sessions/one']) await service.request('POST', `${path}/pause`)
    assert.deepEqual(await count(session), [409, 'guard_block', 'PAUSED_SESSION', id, ''])
    assert.deepEqual(await count({ authorization }), [409, 'guard_block', 'PAUSED_AGENT', '', ''])
    assert.equal(service.provider.requests.length, 1)
  })
  it('a pause needs no body, can be repeated, and is an event of the session', async () => {
    await using service = await startService()
    await service.send(dialects[0] ?? assert.fail(), [{ user: 'hi' }], session)
    for (let n = 0; n < 2; n++) assert.equal((await service.request('POST', '/api/sessions/one/pause')).status, 200)
    assert.equal((await service.request('POST', '/api/sessions/one/resume')).status, 200)
    const names = (await service.events('one')).map(({ name }) => name)
    assert.deepEqual(new Set(names), new Set(['policy.decision', 'session.paused', 'session.resumed']))
  })
  it('a session or agent that is not there cannot be paused', async () => {
    await using service = await startService()
    for (const [what, code] of [
      ['sessions', 'SESSION_NOT_FOUND'],
      ['agents', 'AGENT_NOT_FOUND'],
    ]) {
      const answer = await service.request('POST', `/api/${what}/nobody/pause`)
      assert.deepEqual([answer.status, errorOf(answer).code], [404, code])
    }
  })
  it('pauses, policies and the keys of agents outlive a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-restart-'))
    const dialect = dialects[1] ?? assert.fail()
    try {
      const authorization = await (async () => {
        await using service = await startService({ folder, backend: 'sqlite' })
        return await prepare(service)
      })()
      await using service = await startService({ folder, backend: 'sqlite' })
      assert.equal((await service.send(dialect, [{ user: 'two' }], session)).status, 409)
      assert.equal((await service.send(dialect, [{ user: 'two' }], { authorization })).status, 409)
      await service.request('POST', '/api/agents/builder/resume')
      assert.equal((await service.send(dialect, [{ user: 'two' }], { authorization })).status, 200)
      const { version, mode } = (await service.request('GET', '/api/policies/shop')).json as Record<string, unknown>
      assert.deepEqual([version, mode], [1, 'enforce'])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

/** A paused session, a paused agent and a stored policy; the agent's credential. */
const prepare = async (service: Service): Promise<string> => {
  await service.send(dialects[1] ?? assert.fail(), [{ user: 'one' }], session)
  await service.request('POST', '/api/sessions/one/pause')
  const made = await service.request('POST', '/api/agents', { id: 'builder' })
  await service.request('POST', '/api/agents/builder/pause')
  await service.policy({ mode: 'enforce' }, 'shop')
  return `Bearer ${(made.json as { key: string }).key}`
}
