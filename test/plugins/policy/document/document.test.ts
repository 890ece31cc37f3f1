import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Policies } from '../../../../plugins/policy/policies.ts'
import { user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { newSession, startApi } from '../kit.ts'

const rule = (over: object = {}) => ({ rule_type: 'exact_repeat', ...over })

describe('reading a policy', () => {
  it('gives the default rules of an unknown project, in their order', async () => {
    const { get } = await startApi()
    const complete = (rule_type: string, threshold: number, window_size = 0) => ({
      id: rule_type,
      rule_type,
      threshold,
      window_size,
      action: 'block',
      enabled: true,
    })
    assert.deepEqual(await get('never-seen'), {
      project_id: 'never-seen',
      version: 0,
      source: 'built_in',
      mode: null,
      mode_in_force: 'shadow',
      rules: [
        complete('exact_repeat', 3, 8),
        complete('tool_repeat', 3, 8),
        complete('error_retry', 5),
        complete('sequence_repeat', 3, 15),
        complete('max_requests', 50),
        complete('max_tokens', 100_000),
      ],
      warnings: [],
    })
  })
  it('is one rule for each detector where no default is given', async () => {
    const { get } = await startApi({ defaults: undefined })
    assert.equal((await get()).rules.length, 6)
  })
  it('refuses a project id of another form', async () => {
    const { app } = await startApi()
    const reply = await app.inject({ url: '/api/policies/a%20b' })
    assert.deepEqual([reply.statusCode, reply.json().error.code], [400, 'INVALID_REQUEST'])
  })
})

describe('replacing a policy', () => {
  it('answers a note as it is stored, with secrets hidden', async () => {
    const { put, get, gateway } = await startApi()
    const secret = `ghp_${'Zk29LmN4pR8sT1vWyB3cD6fGhJ0aE5uIoXkL'}`
    const { status, body } = await put({ rules: [rule({ note: `for ${secret}` })] })
    assert.equal(status, 200)
    const stored = await gateway.storage.get('policies', 'shop')
    assert.match(String(stored?.rules[0]?.note), /^for \[REDACTED:[a-z_]+\]$/)
    assert.deepEqual([body.rules, (await get()).rules], [stored?.rules, stored?.rules])
  })

  it('takes a list of rules, bare or as a member, and fills in what is left out', async () => {
    const { put, get } = await startApi()
    const rules = [
      { id: 'exact_repeat', rule_type: 'exact_repeat', threshold: 3, window_size: 8, action: 'block', enabled: true },
      {
        id: 'exact_repeat-2',
        rule_type: 'exact_repeat',
        threshold: 9,
        window_size: 20,
        action: 'flag',
        enabled: false,
        note: 'slow',
      },
    ]
    const sent = [rule(), rule({ threshold: 9, window_size: 20, action: 'flag', enabled: false, note: 'slow' })]
    const first = await put(sent)
    assert.deepEqual([first.status, first.body.version, first.body.source], [200, 1, 'own'])
    assert.deepEqual(first.body.rules, rules)
    const second = await put({ rules: sent })
    assert.deepEqual([second.body.version, second.body.rules], [2, rules])
    assert.deepEqual(await get(), second.body)
  })
  it('takes back what was read', async () => {
    const { put, get } = await startApi()
    assert.equal((await put(await get())).status, 200)
  })
  it('leaves rules and mode as they are unless they are given', async () => {
    const { put } = await startApi()
    await put({ mode: 'enforce' })
    const { body } = await put([rule()])
    assert.deepEqual([body.mode, body.rules.length], ['enforce', 1])
    assert.deepEqual([(await put({ mode: null })).body.mode, (await put({ mode: null })).body.rules.length], [null, 1])
  })
  it('applies to the next request, while those that were judged keep their version', async () => {
    const bench = await startApi()
    const session = newSession()
    const under = call({ session, items: [user('a')] })
    const judged = await bench.ask(under)
    await bench.put({ mode: 'enforce', rules: [rule({ threshold: 1 })] })
    await bench.end(under, judged)
    assert.deepEqual([judged.decision, judged.policy_version], ['allow', '0'])
    const next = await bench.send(call({ session, items: [user('b')] }))
    assert.deepEqual([next.decision, next.policy_version], ['block', '1'])
    const elsewhere = await bench.send(call({ session: newSession(), project: 'other', items: [user('b')] }))
    assert.equal(elsewhere.decision, 'allow')
  })
  it('takes a preset by name', async () => {
    const { put } = await startApi({ presets: { strict: [rule({ threshold: 2 })] } })
    assert.equal((await put({ preset: 'strict' })).body.rules[0].threshold, 2)
    const unknown = await put({ preset: 'lax' })
    assert.deepEqual(
      [unknown.status, unknown.body.error.message],
      [400, '/preset must be the name of a preset, is "lax"; there is strict.'],
    )
    assert.match(unknown.body.error.message, /there is strict/)
  })
  it('refuses a change that was made for another version', async () => {
    const { put } = await startApi()
    assert.equal((await put({ rules: [rule()], expected_version: 0 })).status, 200)
    const late = await put({ rules: [rule()], expected_version: 0 })
    assert.deepEqual(
      [late.status, late.body.error.code, late.body.error.type],
      [409, 'VERSION_CONFLICT', 'conflict_error'],
    )
    assert.equal((await put({ rules: [rule()], expected_version: 1 })).body.version, 2)
  })
  it('loses no change of writers that read the same version', async () => {
    const { put, gateway } = await startApi()
    await put([rule()])
    const { storage } = gateway
    const { get: read } = storage
    const met = Promise.withResolvers<void>()
    let readers = 0
    storage.get = async (table, key) => {
      const row = await read(table, key)
      if (++readers === 2) met.resolve()
      await met.promise
      return row
    }
    const free = await Promise.all([put([rule()]), put([rule()])])
    assert.deepEqual(free.map((writer) => writer.body.version).sort(), [2, 3])
  })
  it('lets one of several writers win when they expect the same version', async () => {
    const { put } = await startApi()
    const writers = await Promise.all([1, 2, 3].map(() => put({ rules: [rule()], expected_version: 0 })))
    assert.deepEqual(writers.map((writer) => writer.status).sort(), [200, 409, 409])
  })
  it('keeps the last fifty versions', async () => {
    const { put, gateway } = await startApi()
    for (let n = 0; n < 53; n++) await put([rule({ threshold: n + 1 })])
    const { rows } = await gateway.storage.find('policy_versions', { limit: 100 })
    assert.deepEqual([rows.length, rows[0]?.version, rows.at(-1)?.version], [50, 53, 4])
    assert.equal(rows.at(-1)?.rules[0]?.threshold, 4)
  })
  it('is not undone by a reader that was slower', async () => {
    const { put, get, gateway } = await startApi()
    const { storage } = gateway
    const { get: read } = storage
    const gate = Promise.withResolvers<void>()
    storage.get = async (table, key) => {
      const row = await read(table, key)
      storage.get = read
      await gate.promise
      return row
    }
    const slow = get()
    await put([rule({ threshold: 7 })])
    gate.resolve()
    assert.equal((await slow).version, 1)
    assert.equal((await get()).version, 1)
  })
  it('survives a restart', async () => {
    const { put, gateway } = await startApi()
    await put({ mode: 'enforce', rules: [rule()] })
    const later = await new Policies(gateway).load('shop')
    assert.deepEqual([later.version, later.mode, later.rules.length], [1, 'enforce', 1])
  })
})
