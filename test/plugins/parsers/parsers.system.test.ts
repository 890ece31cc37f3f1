import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { parserProcess } from '#lib/parser-process'
import { loaded } from '../../conformance/mcp-check.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { readMetrics } from '../metrics/reader.ts'

const policy = 'version: 1\nrules:\n  - { id: a, tools: [t], action: deny }\n'
const long = `${policy}${'# why\n'.repeat(1_000)}`

interface Validation {
  readonly valid: boolean
  readonly errors: readonly { readonly code: string; readonly message: string }[]
}

const validate = async ({ request }: Started, yaml: string): Promise<Validation> =>
  (await request('POST', '/api/v1/mcp/policies/validate', { yaml })).json as Validation
const metricsOf = async ({ request }: Started) => readMetrics((await request('GET', '/metrics')).text)

/** Refused texts whose process died: YAML and shell commands. */
const diedOf = async (gateway: Started): Promise<readonly number[]> => {
  const { value } = await metricsOf(gateway)
  return ['yaml', 'shell'].map((kind) => value('guard_parser_refused_texts_total', { kind, cause: 'died' }) ?? 0)
}

/** Parses a text in a process that is killed meanwhile. */
const killed = async <Result>(read: () => Promise<Result>): Promise<Result> => {
  const [pid = 0] = parserProcess.pids
  process.kill(pid, 'SIGSTOP')
  const result = read()
  const request = setInterval(() => process.kill(pid, 'SIGKILL'), 1_000)
  return result.finally(() => clearInterval(request))
}

describe('gateways and the processes of parsers', () => {
  it('share them; these start at their first use and end with the last gateway', async () => {
    // what tests before these have left in this program
    parserProcess.use()()
    const { starts } = parserProcess.counts
    const [one, other] = [await startGateway(), await startGateway()]
    assert.equal((await validate(one, policy)).valid, true)
    assert.deepEqual(parserProcess.pids, [])
    assert.equal((await validate(one, long)).valid, true)
    const { pids } = parserProcess
    assert.equal(pids.length, 1)
    assert.equal((await validate(other, long)).valid, true)
    for (const gateway of [one, other])
      assert.equal((await metricsOf(gateway)).value('guard_parser_process_starts_total'), starts + 1)
    await one.close()
    assert.deepEqual(parserProcess.pids, pids)
    await other.close()
    assert.deepEqual(parserProcess.pids, [])
  })
  it('live on when one dies: its text is refused with the cause and counted by kind, the next one is read', async () => {
    const gateway = await startGateway()
    const diedBefore = await diedOf(gateway)
    assert.equal((await validate(gateway, long)).valid, true)
    const why = 'the process that reads it has ended (SIGKILL)'
    const { valid, errors } = await killed(() => validate(gateway, long))
    assert.deepEqual([valid, errors[0]?.code], [false, 'INVALID_YAML'])
    assert.ok(errors[0]?.message.includes(why), errors[0]?.message)
    const judge = await loaded(shell, { args: ['/command'], allow: ['git log'] })
    assert.deepEqual(await judge({ command: 'git log' }), [])
    const findings = await killed(() => judge({ command: 'git log' }))
    assert.deepEqual(findings, [{ pointer: '/command', reason: `cannot be judged: ${why}`, certain: false }])
    assert.deepEqual(await judge({ command: 'git log' }), [])
    assert.equal((await validate(gateway, long)).valid, true)
    assert.deepEqual(
      await diedOf(gateway),
      diedBefore.map((count) => count + 1),
    )
    await gateway.close()
  })
})
