import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Dialect, dialectOf, dialects, looping, productive, type Step } from '../../../kit/dialogue.ts'
import { decisionOf, errorOf, type Service, startService } from '../../../kit/service.ts'

const session = { 'x-guard-session-id': 'one' }
const steering = { mode: 'enforce', rules: [{ rule_type: 'tool_repeat', action: 'steer' }] }

/** What the provider was sent last, and the text of the last element of its conversation. */
const sentLast = ({ provider }: Service, { style }: Dialect) => {
  const body = JSON.parse(provider.requests.at(-1)?.body.toString() ?? '{}')
  const list: readonly unknown[] = style === 'responses' ? body.input : body.messages
  return { list, last: JSON.stringify(list.at(-1)) }
}
const isNudged = (service: Service, dialect: Dialect): boolean =>
  sentLast(service, dialect).last.includes('Guard has noticed')
const call = (path: string): Step => ({ tool: 'read_file', args: { path }, result: `what ${path} holds` })
const repeated = (path: string, times: number): Step[] => Array.from({ length: times }, () => call(path))

describe('steering over HTTP', () => {
  for (const dialect of dialects)
    for (const stream of [false, true])
      it(`nudges the model once, then refuses the same loop, also after a restart: ${dialect.style}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const folder = await mkdtemp(join(tmpdir(), 'guard-steer-'))
        try {
          {
            await using service = await startService({ folder, backend: 'sqlite' })
            await service.policy(steering)
            const plain = await service.send(dialect, looping(2), session, { stream })
            const steered = await service.send(dialect, looping(3), session, { stream })
            assert.deepEqual(decisionOf(steered), { status: 200, decision: 'shadow_flag', reason: 'LOOP_TOOL_CALL' })
            // the reply is the provider's, byte for byte
            assert.equal(steered.headers.get('content-type'), plain.headers.get('content-type'))
            assert.equal(steered.text.length > 0, true)
            const { list, last } = sentLast(service, dialect)
            const sent = dialect.body(looping(3), { stream })
            assert.equal(
              list.length,
              ((sent.input as unknown[] | undefined) ?? (sent.messages as unknown[])).length + 1,
            )
            assert.match(last, /"role":"user"/)
            assert.match(last, /read_file was called 3 times with the same arguments/)
            assert.match(last, /Do not call read_file with these arguments again: what it answered stands above\./)
          }
          await using service = await startService({ folder, backend: 'sqlite' })
          const refused = await service.send(dialect, looping(4), session, { stream })
          assert.deepEqual(decisionOf(refused), { status: 429, decision: 'block', reason: 'LOOP_TOOL_CALL' })
          assert.equal(service.provider.requests.length, 0)
          const [event] = (await service.events('one')).slice(-1)
          assert.deepEqual([event?.attributes.action, event?.attributes.decision], ['steer', 'block'])
        } finally {
          await rm(folder, { recursive: true, force: true })
        }
      })

  it('forgets what it said of one loop when another one starts, and refuses whichever continues', async () => {
    await using service = await startService()
    await service.policy(steering)
    const chat = dialectOf('chat_completions')
    const steps: Step[] = [{ user: 'Repair it.' }]
    const next = async (...more: Step[]) => {
      steps.push(...more)
      const answer = await service.send(chat, steps, session)
      return answer.status === 200 ? isNudged(service, chat) : answer.status
    }
    assert.equal(await next(...repeated('a', 3)), true)
    assert.equal(await next(call('b')), false)
    assert.equal(await next(call('c')), false)
    // another loop is another matter
    assert.equal(await next(...repeated('d', 3)), true)
    assert.equal(await next(call('e')), false)
    // the first one again, within its window
    assert.equal(await next(...repeated('d', 1)), 429)
  })

  it('speaks again of a loop that is outside the window', async () => {
    await using service = await startService()
    await service.policy(steering)
    const chat = dialectOf('chat_completions')
    const steps: Step[] = [...looping(3)]
    await service.send(chat, steps, session)
    for (const step of productive(9).slice(1)) {
      steps.push(step)
      assert.equal(decisionOf(await service.send(chat, steps, session)).decision, 'allow')
    }
    steps.push(...looping(3).slice(1))
    assert.equal((await service.send(chat, steps, session)).status, 200)
    assert.equal(isNudged(service, chat), true)
  })

  it('holds for clients that send no history, or cut it', async () => {
    await using service = await startService()
    await service.policy(steering)
    const messages = dialectOf('messages')
    const answers: (number | boolean)[] = []
    for (let n = 0; n < 5; n++) {
      const answer = await service.send(messages, [{ user: `Turn ${n}` }, call('a')], session)
      answers.push(answer.status === 200 ? isNudged(service, messages) : answer.status)
    }
    assert.deepEqual(answers, [false, false, true, 429, 429])
  })

  it('is not pushed out of the window by other conversations of the session', async () => {
    await using service = await startService()
    await service.policy(steering)
    const chat = dialectOf('chat_completions')
    await service.send(chat, looping(3), session)
    for (let n = 0; n < 12; n++) await service.send(chat, [{ user: `Subagent ${n}` }, call(`part-${n}`)], session)
    assert.equal((await service.send(chat, looping(4), session)).status, 429)
  })

  it('speaks again where the reply to it never came', async () => {
    await using service = await startService()
    await service.policy(steering)
    const chat = dialectOf('chat_completions')
    await service.send(chat, looping(2), session)
    service.provider.script({ status: 503, body: '{"error":{"type":"overloaded","message":"busy"}}' })
    assert.equal((await service.send(chat, looping(3), session)).status, 503)
    assert.equal((await service.send(chat, looping(3), session)).status, 200)
    assert.equal(isNudged(service, chat), true)
    assert.equal((await service.send(chat, looping(4), session)).status, 429)
  })

  it('speaks of repeated requests too, whose input may be a text', async () => {
    await using service = await startService()
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'exact_repeat', action: 'steer' }] })
    const ask = (input: string) => service.request('POST', '/v1/responses', { model: 'm-1', input }, session)
    for (const text of ['First.', 'Second.']) {
      for (let n = 0; n < 2; n++) assert.equal(decisionOf(await ask(text)).decision, 'allow')
      assert.equal(decisionOf(await ask(text)).decision, 'shadow_flag')
      const { list, last } = sentLast(service, dialectOf('responses'))
      assert.deepEqual(list[0], { type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
      assert.match(last, /3 identical requests.*Do not answer as before/)
      assert.equal((await ask(text)).status, 429)
    }
  })

  it('holds for Responses that leave their history with the provider', async () => {
    await using service = await startService()
    await service.policy(steering)
    let previous = ''
    const answers: (number | boolean)[] = []
    for (let n = 0; n < 5; n++) {
      const reply = {
        id: `resp_${n}`,
        object: 'response',
        status: 'completed',
        output: [{ type: 'function_call', call_id: `call_${n}`, name: 'read_file', arguments: '{"path":"a"}' }],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      }
      service.provider.script({ body: JSON.stringify(reply), headers: { 'content-type': 'application/json' } })
      const input =
        n === 0
          ? [{ type: 'message', role: 'user', content: 'Repair it.' }]
          : [{ type: 'function_call_output', call_id: `call_${n - 1}`, output: 'the same text' }]
      const more = previous === '' ? {} : { previous_response_id: previous }
      const answer = await service.request('POST', '/v1/responses', { model: 'm-1', input, ...more }, session)
      answers.push(answer.status === 200 ? isNudged(service, dialectOf('responses')) : answer.status)
      previous = `resp_${n}`
    }
    assert.deepEqual(answers, [false, false, false, true, 429])
  })

  it('of a rule that examines what happens without a break, forgets at the first break', async () => {
    await using service = await startService()
    const stall = { rule_type: 'tool_error_streak', threshold: 2, action: 'steer' }
    await service.policy({ mode: 'enforce', rules: [stall] })
    const messages = dialectOf('messages')
    const failing = (count: number, of: string): object[] =>
      Array.from({ length: count }, (_, n) => [
        { role: 'assistant', content: [{ type: 'tool_use', id: `${of}_${n}`, name: of, input: { n } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `${of}_${n}`, is_error: true, content: 'no such key' }],
        },
      ]).flat()
    const works = (id: string): object[] => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: { id } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `found ${id}` }] },
    ]
    const steps: object[] = [{ role: 'user', content: 'Repair it.' }]
    const next = async (...more: object[]) => {
      steps.push(...more)
      const answer = await service.request(
        'POST',
        messages.path,
        { model: 'm-1', max_tokens: 9, messages: steps },
        session,
      )
      if (answer.status !== 200) return errorOf(answer).code
      return isNudged(service, messages)
    }
    assert.equal(await next(...failing(2, 'fetch')), true)
    assert.equal(await next(...works('w1')), false)
    assert.equal(await next(...failing(2, 'fetch')), true)
    assert.equal(await next(...failing(1, 'fetch')), 'LOOP_TOOL_ERROR')
  })
})
