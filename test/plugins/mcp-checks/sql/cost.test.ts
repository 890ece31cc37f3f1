import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { loaded } from '../../../conformance/mcp-check.ts'

const judge = async (dialect: 'postgres' | 'generic', text: string) => {
  const find = await loaded(sql, { args: ['/sql'], dialect, operations: ['select', 'set'] })
  const before = process.cpuUsage()
  const [finding] = await find({ sql: text })
  return { reason: finding?.reason, seconds: process.cpuUsage(before).user / 1_000_000 }
}

const SIZE = 260_000
const repeated = (part: string): string => part.repeat(Math.floor(SIZE / part.length))

describe('the time that SQL takes to be judged', () => {
  for (const marks of ['+', '-+', '@', '<>', '*-/'])
    it(`does not grow with the square of signs in a row: ${marks}`, async () => {
      const { reason, seconds } = await judge('postgres', `select ${repeated(marks)}1`)
      assert.equal(reason, 'nests too deep or chains too much')
      assert.ok(seconds < 2)
    })
  it('is no matter for rulers in comments and texts', async () => {
    const ruler = `/*${'*'.repeat(6000)}*/ --${'='.repeat(6000)}\nselect '${'#'.repeat(3000)}' ${'-'.repeat(6000)}`
    assert.equal((await judge('postgres', ruler)).reason, undefined)
  })
  it('does not grow with the square of settings', async () => {
    const { reason, seconds } = await judge('generic', `select 1${repeated(' set a')}`)
    assert.equal(reason, undefined)
    assert.ok(seconds < 2)
  })
  it('does not grow with the square of marks upon a letter', async () => {
    const { reason, seconds } = await judge('generic', `select a${'\u0315\u0300'.repeat(60_000)}`)
    assert.match(String(reason), /^holds "a/)
    assert.ok(seconds < 1)
  })
})
