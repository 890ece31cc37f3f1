import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { allDialects, type Dialect, looping, productive, type Step } from '../kit/dialogue.ts'
import { geminiReply, ollamaReply, replyTo, type WholeReply } from '../kit/replies.ts'
import { decisionOf, type Service, startService } from '../kit/service.ts'

const TASK: Step = { user: 'The build fails. Find out why.' }
const tool = (name: string, args: object, result: string): Step => ({ tool: name, args, result })
const times = (count: number, of: (n: number) => Step): Step[] => Array.from({ length: count }, (_, n) => of(n))
const word = (n: number): string => `w${String.fromCharCode(97 + n)}`

/** Sessions that are stuck in one way or another. */
const loops: Readonly<Record<string, readonly Step[]>> = {
  'the same call': looping(6),
  'two calls in turn': [TASK, ...times(12, (n) => (n % 2 === 0 ? tool('ls', {}, 'a.ts') : tool('pwd', {}, '/app')))],
  'an edit and the edit back': [
    TASK,
    ...times(12, (n) =>
      tool('edit', { file: 'a.ts', from: word(n % 2), to: word((n + 1) % 2) }, 'The file was updated.'),
    ),
  ],
  'a failing test after edits': [
    TASK,
    ...times(20, (n) =>
      n % 2 === 0
        ? tool('edit', { text: word(n) }, 'ok')
        : tool('shell', { command: 'npm test' }, 'Exit code 1\n1 failed'),
    ),
  ],
}

const rules = ['exact_repeat', 'tool_repeat', 'sequence_repeat', 'stale_turns', 'text_repeat', 'novelty_stall']

/** What is decided about a session as it stands after each of its steps. */
const decisions = async (service: Service, dialect: Dialect<string>, steps: readonly Step[]): Promise<unknown[]> => {
  const found: unknown[] = []
  for (const length of steps.keys()) {
    const headers = { 'x-guard-session-id': `session-${dialect.style}` }
    const { status, reason } = decisionOf(await service.send(dialect, steps.slice(0, length + 1), headers))
    found.push(status === 200 ? 'ok' : [status, reason])
  }
  return found
}

describe('a loop', () => {
  for (const [name, steps] of Object.entries(loops))
    it(`of ${name} is stopped at the same turn in every style, for the same reason`, async () => {
      await using service = await startService({ config: 'default_mode: enforce' })
      await service.policy({ rules: rules.map((rule_type) => ({ rule_type, action: 'block' })) })
      const [first, ...others] = allDialects
      assert.ok(first)
      const wanted = await decisions(service, first, steps)
      assert.ok(
        wanted.some((decision) => decision !== 'ok'),
        'nothing was found',
      )
      for (const dialect of others) assert.deepEqual(await decisions(service, dialect, steps), wanted, dialect.style)
    })
})

type AnyDialect = (typeof allDialects)[number]
const added: readonly AnyDialect[] = allDialects.filter(({ style }) => style === 'gemini' || style === 'ollama')
const CHANT = 'I will read the file once more to see what is wrong with it now. '
const LONG = `Here is what I found. ${CHANT.repeat(60)}`

/** A long stream that says the same again and again, in each framing. */
const framings: readonly (readonly [name: string, path: string, body: object, reply: WholeReply, cuts: boolean])[] = [
  ['events of gemini', '/v1beta/models/m-1:streamGenerateContent?alt=sse', {}, geminiReply(true, LONG), true],
  ['an array of gemini', '/v1beta/models/m-1:streamGenerateContent', {}, geminiReply(true, LONG, false), false],
  ['lines of ollama', '/api/chat', { stream: true }, ollamaReply(true, LONG), true],
]

describe('a style beside those below /v1', () => {
  let service: Service
  let session = ''
  let count = 0
  before(async () => {
    service = await startService({ config: 'default_mode: enforce' })
  })
  after(() => service[Symbol.asyncDispose]())
  beforeEach(async () => {
    session = `s-${++count}`
    await service.policy({ rules: [{ rule_type: 'max_requests', threshold: 1000 }] })
  })
  const send = (dialect: Dialect<string>, steps: readonly Step[], more: object = {}) =>
    service.send(dialect, steps, { 'x-guard-session-id': session }, more)
  const record = async () =>
    (await service.gateway.gateway.storage.find('calls', { order: ['recorded', 'desc'], limit: 1 })).rows[0]

  for (const dialect of added) {
    it(`is recorded with model, tokens and how it ended (${dialect.style})`, async () => {
      for (const stream of [false, true]) {
        const answer = await send(dialect, productive(1), { stream })
        const path = stream ? (dialect.stream_path ?? dialect.path) : dialect.path
        assert.deepEqual([answer.status, answer.text], [200, replyTo(path, JSON.stringify({ stream })).body])
        const row = await record()
        assert.deepEqual(
          [row?.style, row?.model_requested, row?.model_replied, row?.stream, row?.outcome, row?.usage_source],
          [dialect.style, 'm-1', 'm-1-0301', stream, 'ok', 'reported'],
        )
        assert.deepEqual([row?.input_tokens, row?.output_tokens, row?.finish_reason?.toLowerCase()], [20, 5, 'stop'])
        assert.equal(row?.path, path.split('?')[0])
      }
      assert.equal((await service.session(session)).total_tokens, 50)
    })

    it(`has spans in Replay for its requests and the tools that replies call (${dialect.style})`, async () => {
      const reply =
        dialect.style === 'gemini'
          ? {
              candidates: [
                {
                  content: { role: 'model', parts: [{ functionCall: { name: 'read_file', args: {} } }] },
                  finishReason: 'STOP',
                },
              ],
            }
          : {
              model: 'm-1',
              message: {
                role: 'assistant',
                content: '',
                tool_calls: [{ function: { name: 'read_file', arguments: {} } }],
              },
              done: true,
            }
      service.provider.script({ body: JSON.stringify(reply) })
      const answer = await send(dialect, [TASK])
      const trace = answer.headers.get('x-guard-trace-id')
      const { json } = await service.request('GET', `/api/v1/runs/${trace}`)
      const { spans } = json as {
        spans: readonly { name: string; label: string; kind: string; attributes: Record<string, unknown> }[]
      }
      const seen = spans.map(({ name, label }) => [name, label])
      assert.ok(
        seen.some(([name, label]) => name === 'gen_ai.request' && label === 'm-1'),
        JSON.stringify(seen),
      )
      assert.ok(
        seen.some(([name, label]) => name === 'tool.call' && label === 'read_file'),
        JSON.stringify(seen),
      )
      const request = spans.find(({ name }) => name === 'gen_ai.request')
      assert.equal(request?.attributes['guard.api_style'], dialect.style)
      assert.equal(
        request?.attributes['gen_ai.operation.name'],
        dialect.style === 'gemini' ? 'generate_content' : 'chat',
      )
    })

    it(`has budgets (${dialect.style})`, async () => {
      await service.policy({ rules: [{ rule_type: 'max_tokens', threshold: 40, action: 'block' }] })
      const decisions = []
      for (let turn = 1; turn < 4; turn++) decisions.push(decisionOf(await send(dialect, productive(turn))))
      assert.deepEqual(
        decisions.map(({ status, reason }) => [status, reason]),
        [
          [200, null],
          [200, null],
          [429, 'LIMIT_TOKENS'],
        ],
      )
    })

    it(`is refused in its own words while its session is paused (${dialect.style})`, async () => {
      await send(dialect, productive(1))
      await service.request('POST', `/api/sessions/${session}/pause`, { reason: 'wait' })
      const { status, json } = await send(dialect, productive(2))
      const { error } = json as { error: unknown }
      assert.equal(status, 409)
      if (dialect.style === 'ollama') assert.match(String(error), /paused/)
      else
        assert.deepEqual(
          [Reflect.get(error as object, 'code'), Reflect.get(error as object, 'status')],
          [409, 'ABORTED'],
        )
    })

    it(`is stopped when the provider fails in the same way again and again (${dialect.style})`, async () => {
      await service.policy({ rules: [{ rule_type: 'error_retry', threshold: 3, action: 'block' }] })
      const body = JSON.stringify(
        dialect.style === 'ollama'
          ? { error: 'model runner has stopped' }
          : { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } },
      )
      service.provider.script(...Array.from({ length: 3 }, () => ({ status: 503, body })))
      const statuses = []
      for (let turn = 0; turn < 4; turn++) statuses.push((await send(dialect, productive(turn))).status)
      assert.deepEqual(statuses, [503, 503, 503, 429])
    })
  }

  for (const [name, path, more, reply, cuts] of framings) {
    const dialect = added.find(({ style }) => name.endsWith(style))
    const script = (rest: object) =>
      service.provider.script({ headers: { 'content-type': reply.type }, body: reply.body, chunked: true, ...rest })
    const stream = () =>
      service.request('POST', path, dialect?.body(productive(1), more), { 'x-guard-session-id': session })

    it(`passes ${name} byte for byte, however it is cut, and reads it`, async () => {
      for (const pieces of [[1000], [7, 1, 300]]) {
        script({ pieces })
        assert.equal((await stream()).text, reply.body)
        assert.deepEqual([(await record())?.outcome, (await record())?.output_tokens], ['ok', 5])
      }
    })

    it(`records ${name} that breaks off as truncated`, async () => {
      script({ cut_at: Math.floor(reply.body.length / 2) })
      await stream().catch(() => {})
      for (let turn = 0; turn < 50 && (await record())?.outcome !== 'truncated'; turn++) await new Promise(setImmediate)
      assert.equal((await record())?.outcome, 'truncated')
    })

    it(`hears a chant in ${name}, and ${cuts ? 'ends the stream after a whole event' : 'lets it go on'}`, async () => {
      await service.policy({ rules: [{ rule_type: 'content_chant', action: 'block', params: { cut: true } }] })
      for (const pieces of [[1000], [97], [1, 2, 3]]) {
        script({ pieces })
        const { text } = await stream()
        const row = await record()
        assert.deepEqual([row?.reason, row?.outcome], ['LOOP_CONTENT', cuts ? 'interrupted' : 'ok'])
        if (!cuts) assert.equal(text, reply.body)
        else {
          assert.ok(text.length < reply.body.length * 0.8, `${text.length} of ${reply.body.length}`)
          const events = text
            .split(/\r?\n/)
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line.replace(/^data: /, '')))
          const last = JSON.stringify(events.at(-1))
          assert.match(last, /"finishReason":"MAX_TOKENS"|"done":true,"done_reason":"length"/)
        }
      }
    })
  }
})
