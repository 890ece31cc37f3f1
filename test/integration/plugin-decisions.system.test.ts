import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Decision, Plugin } from 'guard-gateway/core'
import { startChildGateway } from '../kit/child-gateway.ts'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../kit/postgres.ts'
import { fakeProvider } from '../kit/provider.ts'
import { decisionOf, type Service, startService } from '../kit/service.ts'
import { sharedMemory } from '../kit/shared-memory.ts'

/** What a plugin makes of a decision, by the model. */
const turned: Readonly<Record<string, (decision: Decision) => Decision>> = {
  'm-veto': (decision) => ({ ...decision, decision: 'block', reason: 'NOT_TODAY', message: 'Not today.' }),
  // as JavaScript writes it, with all else left out
  'm-bare': () => ({ decision: 'block', reason: 'NOT_TODAY', message: 'Not today.' }) as Decision,
  'm-flag': (decision) => ({ ...decision, decision: 'shadow_flag', reason: 'ODD', message: 'Odd.' }),
  'm-free': (decision) =>
    decision.decision === 'block'
      ? { ...decision, decision: 'allow', reason: null, rule_id: null, message: '' }
      : decision,
  'm-typo': (decision) => ({ ...decision, decision: 'deny' as 'block' }),
}

const turner = (stage: number, waits: boolean): Plugin => ({
  name: 'turner',
  apply({ hooks }) {
    hooks.decision.tapPromise({ name: 'turner', stage }, async (decision, call) => {
      if (waits) await new Promise((resolve) => setImmediate(resolve))
      return turned[call.envelope.model]?.(decision) ?? decision
    })
  },
})

const rules = [
  { id: 'loop', rule_type: 'exact_repeat', action: 'block', threshold: 3, window_size: 10 },
  { id: 'most', rule_type: 'max_requests', action: 'block', threshold: 6 },
  { id: 'day', rule_type: 'max_requests', threshold: 100, params: { scope: 'project', per: 'day' } },
]

const ask = async (service: Pick<Service, 'request'>, model: string, content: string) =>
  decisionOf(
    await service.request(
      'POST',
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content }] },
      { 'x-guard-session-id': 'mine' },
    ),
  )

const scenario = async (service: Service) => {
  await service.policy({ mode: 'enforce', rules })
  const told: string[] = []
  for (const [model, content] of [
    ['m-1', 'a'],
    ['m-veto', 'b'],
    ['m-veto', 'b'],
    ['m-bare', 'c'],
    ['m-flag', 'd'],
    ['m-free', 'x'],
    ['m-free', 'x'],
    ['m-free', 'x'],
    ['m-free', 'x'],
    ['m-1', 'y'],
  ] as const) {
    const { status, decision, reason } = await ask(service, model, content)
    told.push(`${model} ${status} ${decision} ${reason}`)
  }
  assert.deepEqual(told, [
    'm-1 200 allow null',
    'm-veto 429 block NOT_TODAY',
    'm-veto 429 block NOT_TODAY',
    'm-bare 429 block NOT_TODAY',
    'm-flag 200 shadow_flag ODD',
    'm-free 200 allow null',
    'm-free 200 allow null',
    'm-free 200 allow null',
    'm-free 200 allow null',
    'm-1 429 block LIMIT_REQUESTS',
  ])
}

const figures = async (service: Service) => {
  const { requests, flagged, blocked } = await service.session('mine')
  const { json } = await service.request('GET', '/api/budgets?project_id=default')
  const { budgets } = json as { budgets: { used: number }[] }
  const { storage } = service.gateway.gateway
  const records = { allow: 0, shadow_flag: 0, block: 0, retries: 0 }
  for (const row of (await storage.find('calls', { limit: 100 })).rows) {
    records[row.decision]++
    records.retries += row.retries ?? 0
  }
  return { requests, flagged, blocked, day: budgets.map(({ used }) => used), records }
}

const expected = {
  requests: 6,
  flagged: 1,
  blocked: 3,
  day: [6],
  records: { allow: 5, shadow_flag: 1, block: 3, retries: 1 },
}

const metricsOf = async (service: Service): Promise<Readonly<Record<string, number>>> => {
  const { text } = await service.request('GET', '/metrics')
  const sums: Record<string, number> = {}
  for (const [, decision = '', count] of text.matchAll(/^guard_decisions_total\{.*?decision="(\w+)".*?\} (\d+)$/gm))
    sums[decision] = (sums[decision] ?? 0) + Number(count)
  return sums
}

/** A second one behind the rules, for what cannot be lifted before them. */
const lifter = (waits: boolean): Plugin => ({
  name: 'lifter',
  apply({ hooks }) {
    hooks.decision.tapPromise({ name: 'lifter', stage: 60 }, async (decision, call) => {
      if (waits) await new Promise((resolve) => setImmediate(resolve))
      return call.envelope.model === 'm-free' ? (turned['m-free']?.(decision) ?? decision) : decision
    })
  },
})

const STAGES = [-50, 1, 75, 5_000, Number.POSITIVE_INFINITY]

describe('a decision that a plugin changes is counted as it was changed', () => {
  for (const stage of STAGES)
    for (const waits of [false, true])
      it(`in stage ${stage}${waits ? ', which waits' : ''}, also after a restart`, async () => {
        const folder = await mkdtemp(join(tmpdir(), 'guard-turned-'))
        // before the rules there is no block of theirs yet
        const plugins = () => (stage < 0 ? [turner(stage, waits), lifter(waits)] : [turner(stage, waits)])
        {
          await using service = await startService({ backend: 'sqlite', folder, plugins: plugins() })
          await scenario(service)
          assert.deepEqual(await figures(service), expected)
          assert.deepEqual(await metricsOf(service), { allow: 5, shadow_flag: 1, block: 4 })
        }
        {
          await using service = await startService({ backend: 'sqlite', folder, plugins: plugins() })
          assert.deepEqual(await figures(service), expected)
          assert.deepEqual(await ask(service, 'm-1', 'z'), { status: 429, decision: 'block', reason: 'LIMIT_REQUESTS' })
          assert.equal((await figures(service)).blocked, 4)
        }
        await rm(folder, { recursive: true })
      })
  it('refuses what is no decision', async () => {
    await using service = await startService({ plugins: [turner(100, false)] })
    assert.equal((await ask(service, 'm-typo', 'a')).status, 500)
    assert.match(
      service.gateway.logText(),
      /A plugin has decided \\"deny\\"; a decision is allow, shadow_flag or block/,
    )
    assert.equal(service.provider.requests.length, 0)
  })
  it('pauses no session whose pause was lifted', async () => {
    await using service = await startService({ plugins: [turner(100, false)] })
    const pausing = { id: 'loop', rule_type: 'exact_repeat', action: 'pause', threshold: 2, window_size: 10 }
    await service.policy({ mode: 'enforce', rules: [pausing] })
    for (let time = 0; time < 4; time++) assert.equal((await ask(service, 'm-free', 'x')).decision, 'allow')
    assert.equal((await service.session('mine')).paused, false)
    for (const decision of ['allow', 'block']) assert.equal((await ask(service, 'm-1', 'x')).decision, decision)
    assert.equal((await service.session('mine')).paused, true)
  })
  it('sees requests that come at once while a plugin waits', async () => {
    await using service = await startService({ plugins: [turner(100, true)] })
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_requests', action: 'block', threshold: 4 }] })
    const models = ['m-veto', 'm-1', 'm-1', 'm-veto', 'm-1', 'm-1', 'm-veto', 'm-1', 'm-1', 'm-1']
    const answers = await Promise.all(models.map((model, index) => ask(service, model, `${index}`)))
    const passed = answers.filter(({ decision }) => decision === 'allow').length
    const { requests, blocked } = await service.session('mine')
    assert.ok(passed <= 4, `${passed} passed`)
    assert.deepEqual([requests, blocked], [passed, models.length - passed])
  })
})

describe('a decision that a plugin changes, where several gateways share a storage', () => {
  it('is counted as it was changed', async () => {
    for (const stage of [1, 5_000]) {
      const shared = sharedMemory()
      const plugins = [shared, turner(stage, true)]
      await using service = await startService({ backend: 'shared-memory', plugins })
      await using other = await startService({ backend: 'shared-memory', plugins: [shared, turner(stage, false)] })
      await scenario(service)
      for (const one of [service, other]) assert.deepEqual(await figures(one), expected)
      assert.equal((await ask(other, 'm-1', 'z')).reason, 'LIMIT_REQUESTS')
      assert.equal((await ask(service, 'm-veto', 'zz')).reason, 'NOT_TODAY')
      for (const one of [service, other]) assert.equal((await figures(one)).blocked, 5)
    }
  })
})

describe('a decision that a plugin changes, on PostgreSQL', needsPostgres, () => {
  cleanUpPostgres()
  it('is counted as it was changed, also after a restart', async () => {
    const storage = `url: "${await newDatabase()}"`
    for (const round of [0, 1]) {
      await using service = await startService({ backend: 'postgres', storage, plugins: [turner(100, true)] })
      if (round === 0) await scenario(service)
      assert.deepEqual(await figures(service), expected)
      assert.equal((await service.gateway.gateway.storage.find('open_calls', { limit: 10 })).rows.length, 0)
    }
  })
})

describe('a decision that a plugin changes, when the process dies', () => {
  it('is on record as it was changed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-turned-'))
    await writeFile(join(folder, 'veto.mjs'), veto)
    await using provider = await fakeProvider()
    const session = async (url: string, key: string) => {
      const answer = await fetch(`${url}/api/sessions/mine`, { headers: { authorization: `Bearer ${key}` } })
      const { requests, blocked } = ((await answer.json()) as { session: Record<string, number> }).session
      return { requests, blocked }
    }
    const first = await startChildGateway(folder, provider.url, 'plugins: [./veto.mjs]')
    for (const [model, status] of [
      ['m-1', 200],
      ['m-veto', 429],
      ['m-1', 200],
    ] as const) {
      const { url, key } = first
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model, messages: [{ role: 'user', content: `for ${model}` }] }),
        headers: { 'content-type': 'application/json', 'x-guard-key': key, 'x-guard-session-id': 'mine' },
      })
      await answer.text()
      assert.equal(answer.status, status)
    }
    assert.deepEqual(await session(first.url, first.key), { requests: 2, blocked: 1 })
    await first.end('SIGKILL')
    const second = await startChildGateway(folder, provider.url, 'plugins: [./veto.mjs]')
    assert.deepEqual(await session(second.url, second.key), { requests: 2, blocked: 1 })
    await second.end('SIGTERM')
    await rm(folder, { recursive: true })
  })
})

const veto = `export const veto = {
  name: 'veto',
  apply({ hooks }) {
    hooks.decision.tap({ name: 'veto', stage: 400 }, (decision, call) =>
      call.envelope.model === 'm-veto' ? { ...decision, decision: 'block', reason: 'NOT_TODAY', message: 'Not today.' } : undefined)
  },
}`
