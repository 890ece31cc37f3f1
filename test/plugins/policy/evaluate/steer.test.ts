import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { ollama } from 'guard-gateway/plugins/api-styles/ollama'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { readRequest } from '#lib/request-reader'
import { allDialects, dialectOf, looping, productive, type Step } from '../../../kit/dialogue.ts'
import { call } from '../../../kit/evidence.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { fakeProvider } from '../../../kit/provider.ts'
import { newSession, restarted, startBench } from '../kit.ts'

const styles: Readonly<Record<(typeof allDialects)[number]['style'], ApiStyle>> = {
  chat_completions: chatCompletions,
  messages,
  responses,
  gemini,
  ollama,
}
const steering = [{ rule_type: 'tool_repeat', action: 'steer' }]
const bench = (defaults: unknown = steering) =>
  startBench({ default_mode: 'enforce', defaults }, Object.values(styles) as never)

const asked = (
  steps: readonly Step[],
  session = newSession(),
  { style, body }: (typeof allDialects)[number] = dialectOf('messages'),
  more = {},
) => {
  const bytes = Buffer.from(JSON.stringify(body(steps)))
  const { envelope, conversation } = readRequest(styles[style], bytes)
  return call({ session, conversation, envelope, over: { style, body: bytes, ...more } })
}

describe('action steer', () => {
  for (const dialect of allDialects) {
    it(`adds one user message that names the repetition, in ${dialect.style}, and changes nothing else`, async () => {
      const { send } = await bench()
      const request = asked(looping(3), newSession(), dialect)
      const decision = await send(request)
      assert.equal(decision.decision, 'shadow_flag')
      assert.equal(decision.rule_id, 'tool_repeat')
      assert.deepEqual([decision.matches[0]?.action, decision.matches[0]?.steered], ['steer', true])
      const sent = request.steered_body ?? Buffer.alloc(0)
      const { list } = styles[dialect.style]
      const before = JSON.parse(request.body.toString())
      const after = JSON.parse(sent.toString())
      const added = after[list].pop()
      assert.deepEqual(after, before)
      assert.equal(added.role, 'user')
      assert.match(JSON.stringify(added), /read_file was called 3 times with the same arguments/)
      const read = readRequest(styles[dialect.style], sent)
      assert.equal(read.conversation.turns.at(-1)?.user_after, true)
    })
  }
  it('refuses the next match of the conversation, also after a restart', async () => {
    const { send } = await bench()
    const session = newSession()
    await send(asked(looping(3), session))
    const next = await send(asked(looping(4), session))
    assert.deepEqual([next.decision, next.reason], ['block', 'LOOP_TOOL_CALL'])
    assert.equal((await send(asked(looping(4), restarted(session)))).decision, 'block')
  })
  it('does not let pass what another rule refuses, wherever that is', async () => {
    const spent = { rule_type: 'max_requests', threshold: 1, action: 'block' }
    for (const rules of [
      [...steering, spent],
      [spent, ...steering],
    ]) {
      const { send } = await bench(rules)
      const session = newSession()
      await send(asked(productive(2), session))
      const request = asked(looping(3), session)
      const { decision, reason } = await send(request)
      assert.deepEqual([decision, reason, request.steered_body], ['block', 'LIMIT_REQUESTS', undefined])
    }
  })
  it('steers another attempt of the same request as before', async () => {
    const { send } = await bench()
    const session = newSession()
    await send(asked(looping(3), session))
    const again = asked(looping(3), session, dialectOf('messages'), { retry_mark: true })
    assert.equal((await send(again)).decision, 'shadow_flag')
    assert.ok(again.steered_body !== undefined)
  })
  it('leaves an agent alone that turns to something else, and steers again once the window has moved on', async () => {
    const { send } = await bench()
    const session = newSession()
    await send(asked(looping(3), session))
    const steps = [...looping(3)]
    for (const step of productive(9).slice(1)) {
      steps.push(step)
      assert.equal((await send(asked(steps, session))).decision, 'allow')
    }
    steps.push(...looping(3).slice(1))
    const later = asked(steps, session)
    assert.equal((await send(later)).decision, 'shadow_flag')
    assert.ok(later.steered_body !== undefined)
  })
  it('only flags in shadow mode', async () => {
    const shadow = await startBench({ defaults: steering }, Object.values(styles) as never)
    const watched = asked(looping(3))
    assert.equal((await shadow.send(watched)).decision, 'shadow_flag')
    assert.equal(watched.steered_body, undefined)
    assert.equal((await shadow.send(asked(looping(3)))).matches[0]?.steered, undefined)
  })
  it('flags a body that it cannot change, and refuses the next match all the same, also after a restart', async () => {
    const { send } = await bench()
    const session = newSession()
    const packed = (count: number, of = session) =>
      asked(looping(count), of, dialectOf('messages'), { headers: { 'content-encoding': 'gzip' } })
    const first = packed(3)
    const { decision, matches } = await send(first)
    assert.deepEqual([decision, matches[0]?.steered, first.steered_body], ['shadow_flag', false, undefined])
    assert.equal((await send(packed(4))).reason, 'LOOP_TOOL_CALL')
    assert.equal((await send(packed(4, restarted(session)))).decision, 'block')
  })
  it('reaches the provider through the gateway', async () => {
    const provider = await fakeProvider()
    const gateway = await startGateway({ upstream: provider.url, config: 'default_mode: enforce' })
    try {
      await gateway.request('PUT', '/api/policies/default', { rules: steering })
      const { path, body } = dialectOf('chat_completions')
      const answer = await gateway.request('POST', path, body(looping(3)))
      assert.deepEqual([answer.status, answer.headers.get('x-guard-decision')], [200, 'shadow_flag'])
      const sent = JSON.parse(provider.requests.at(-1)?.body.toString() ?? '')
      assert.match(sent.messages.at(-1).content, /^Guard has noticed a repetition: read_file was called 3 times/)
    } finally {
      await gateway.close()
      await provider.close()
    }
  })
})
