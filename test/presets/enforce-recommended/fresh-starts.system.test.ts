import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Dialect, dialects, type Step } from '../../kit/dialogue.ts'
import type { Answer } from '../../kit/gateway.ts'
import { decisionOf, type Service, startService } from '../../kit/service.ts'

type Headers = Readonly<Record<string, string>>

const TASK: Step = { user: 'Update the changelog.' }
const read = (path: string): Step => ({ tool: 'read_file', args: { path }, result: `what ${path} holds` })
const WORK = [TASK, read('CHANGELOG.md'), read('package.json'), read('README.md')]
const preset = (name: string) => startService({ config: `preset: ${name}` })
const reasonOf = (answer: Answer) => decisionOf(answer).reason

/** Sends a task as it grows, one request after the other. */
const run = async (service: Service, dialect: Dialect, steps: readonly Step[], headers: Headers = {}) => {
  const reasons: (string | null)[] = []
  for (let end = 1; end <= steps.length; end++)
    reasons.push(reasonOf(await service.send(dialect, steps.slice(0, end), headers)))
  return reasons
}

/** Sends equal requests, none of which is answered before all have come. */
const atOnce = async (service: Service, count: number, send: (n: number) => Promise<Answer>) => {
  const { promise: all, resolve } = Promise.withResolvers<void>()
  service.provider.script(...Array.from({ length: count }, () => ({ until: all })))
  const answers = Array.from({ length: count }, (_, n) => {
    const came = service.provider.next()
    return { came, answer: send(n) }
  })
  // a refusal reaches no provider
  await Promise.all(answers.map(({ came, answer }) => Promise.race([came, answer])))
  resolve()
  return (await Promise.all(answers.map(({ answer }) => answer))).map(reasonOf)
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const quiet = (count: number): null[] => times(count, () => null)

for (const dialect of dialects) {
  describe(`conversations in ${dialect.style} with equal starts, under enforce-recommended`, () => {
    it('are no loop: one question ten times', async () => {
      await using service = await preset('enforce-recommended')
      for (let n = 0; n < 10; n++) assert.deepEqual(await run(service, dialect, [TASK]), [null])
      assert.equal(service.provider.requests.length, 10)
    })
    it('are no loop: one task with equal calls and results, five times', async () => {
      await using service = await preset('enforce-recommended')
      for (let n = 0; n < 5; n++) assert.deepEqual(await run(service, dialect, WORK), quiet(4))
      for (let n = 0; n < 5; n++) assert.deepEqual(await run(service, dialect, WORK.slice(0, 2)), quiet(2))
    })
    it('are no loop: a task with different ends', async () => {
      await using service = await preset('enforce-recommended')
      for (let n = 0; n < 5; n++)
        assert.deepEqual(await run(service, dialect, [...WORK.slice(0, 2), read(`${n}.md`)]), quiet(3))
    })
    it('are no loop: a task whose first request has attempt markers', async () => {
      await using service = await preset('enforce-recommended')
      for (let n = 0; n < 5; n++) {
        service.provider.script({ status: 503 }, { status: 503 })
        for (let attempt = 0; attempt < 2; attempt++)
          await service.send(dialect, [TASK], attempt === 0 ? {} : { 'x-stainless-retry-count': `${attempt}` })
        assert.equal(reasonOf(await service.send(dialect, [TASK], { 'x-stainless-retry-count': '2' })), null)
        for (let end = 2; end <= 3; end++) assert.equal(reasonOf(await service.send(dialect, WORK.slice(0, end))), null)
      }
    })
    it('are no loop: concurrent subagents', async () => {
      await using service = await preset('enforce-recommended')
      for (let end = 1; end <= WORK.length; end++) {
        const step = () => service.send(dialect, WORK.slice(0, end))
        assert.deepEqual(await atOnce(service, 3, step), quiet(3))
      }
    })
    it('are no loop: subagents of one session with ids', async () => {
      await using service = await preset('enforce-recommended')
      const headers = { 'x-guard-session-id': 'one' }
      for (let n = 0; n < 4; n++)
        assert.deepEqual(
          await run(service, dialect, WORK, { ...headers, 'x-claude-code-agent-id': `agent-${n}` }),
          quiet(4),
        )
    })
    it('are no loop: concurrent subagents of one session without ids', async () => {
      await using service = await preset('enforce-recommended')
      for (let end = 1; end <= WORK.length; end++) {
        const step = () => service.send(dialect, WORK.slice(0, end), { 'x-guard-session-id': 'one' })
        assert.deepEqual(await atOnce(service, 3, step), quiet(3))
      }
    })
    for (const [session, headers] of Object.entries<Headers>({ none: {}, one: { 'x-guard-session-id': 'one' } })) {
      it(`are no loop: a repeated title request, session: ${session}`, async () => {
        await using service = await preset('enforce-recommended')
        const title = { model: 'm-small', tools: undefined }
        const steps: Step[] = []
        for (let n = 0; n < 6; n++) {
          steps.push({ user: n === 0 ? 'Update the changelog.' : `continue ${n}` })
          assert.equal(reasonOf(await service.send(dialect, steps, headers)), null)
          assert.equal(reasonOf(await service.send(dialect, [TASK], headers, title)), null)
          steps.push({ assistant: `Done ${n}.` })
        }
      })
    }
    it('get a shadow flag for a question that repeats', async () => {
      await using service = await preset('enforce-recommended')
      const answers: Answer[] = []
      for (let n = 0; n < 25; n++) answers.push(await service.send(dialect, [TASK]))
      const found = answers.map(decisionOf)
      assert.deepEqual(
        found.slice(0, 19).map(({ reason }) => reason),
        quiet(19),
      )
      for (const one of found.slice(19))
        assert.deepEqual(one, { status: 200, decision: 'shadow_flag', reason: 'LOOP_EXACT' })
      const event = (await service.events(answers.at(-1)?.headers.get('x-guard-session-id') ?? '')).at(-1)
      assert.equal(event?.attributes.rule_id, 'exact_repeat-pace')
    })
    it('do not hide a repeated request of one of them', async () => {
      await using service = await preset('enforce-recommended')
      for (let n = 0; n < 3; n++) assert.deepEqual(await run(service, dialect, WORK), quiet(4))
      const stuck = () => service.send(dialect, WORK.slice(0, 3))
      assert.deepEqual(await run(service, dialect, WORK.slice(0, 2)), quiet(2))
      assert.deepEqual([await stuck(), await stuck()].map(reasonOf), [null, null])
      assert.deepEqual(decisionOf(await stuck()), { status: 429, decision: 'block', reason: 'LOOP_EXACT' })
    })
    it('do not hide a repeated history with calls', async () => {
      await using service = await preset('enforce-recommended')
      const stuck = () => service.send(dialect, WORK)
      assert.deepEqual([await stuck(), await stuck()].map(reasonOf), [null, null])
      assert.deepEqual(decisionOf(await stuck()), { status: 429, decision: 'block', reason: 'LOOP_EXACT' })
    })
    it('do not hide a loop of calls in one of them', async () => {
      await using service = await preset('enforce-recommended')
      const loop = [TASK, ...times(4, () => read('CHANGELOG.md'))]
      for (let n = 0; n < 2; n++) assert.equal((await run(service, dialect, loop)).indexOf('LOOP_TOOL_CALL'), 3)
    })
    it('do not relax a session that the client names', async () => {
      await using service = await preset('enforce-recommended')
      const send = () => service.send(dialect, [TASK], { 'x-client-session-id': 'one' })
      assert.deepEqual([await send(), await send()].map(reasonOf), [null, null])
      assert.deepEqual(decisionOf(await send()), { status: 429, decision: 'block', reason: 'LOOP_EXACT' })
    })
    it('are no loop for observe, and are one for the literal rules', async () => {
      await using service = await startService()
      for (let n = 0; n < 2; n++) assert.deepEqual(await run(service, dialect, WORK.slice(0, 2)), quiet(2))
      assert.deepEqual(await run(service, dialect, WORK.slice(0, 2)), ['LOOP_EXACT', 'LOOP_EXACT'])
      await service.policy({ preset: 'observe' })
      for (let n = 0; n < 5; n++) assert.deepEqual(await run(service, dialect, WORK), quiet(4))
    })
    it('get the same verdict in a simulation', async () => {
      await using service = await startService()
      for (let n = 0; n < 4; n++) await run(service, dialect, WORK.slice(0, 3))
      const said = async (preset: string) => {
        const { json } = await service.request('POST', '/api/policies/default/simulate', { preset })
        return (json as { flagged: { code: string }[] }).flagged.map(({ code }) => code)
      }
      assert.deepEqual(await said('default'), ['LOOP_EXACT'])
      assert.deepEqual(await said('enforce-recommended'), [])
    })
  })
}
