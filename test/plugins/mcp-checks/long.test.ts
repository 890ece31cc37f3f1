import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { size } from 'guard-gateway/plugins/mcp-checks/size'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { loaded } from '../../conformance/mcp-check.ts'

/** What a promise resolves to, and how often others had their turn before. */
const withTurns = async <Result>(started: () => Promise<Result>): Promise<{ result: Result; turns: number }> => {
  let turns = 0
  const turn = (): void => {
    turns++
    waiting = setImmediate(turn)
  }
  let waiting = setImmediate(turn)
  try {
    const result = await started()
    return { result, turns }
  } finally {
    clearImmediate(waiting)
  }
}

const filled = (part: string, length: number): string => part.repeat(Math.floor(length / part.length))

describe('long texts leave others their turn', () => {
  const operations: ['select'] = ['select']
  // no test of how fast this machine is: PostgreSQL's grammar takes seconds for the longest text beside other work
  for (const [dialect, length] of [
    ['postgres', 60_000],
    ['generic', 262_000],
  ] as const) {
    const options = { args: ['/sql'], dialect, operations }
    it(`as SQL of ${dialect}, and are judged as short ones are; over 256 KiB they are refused`, async () => {
      const find = await loaded(sql, options)
      const list = `select ${filled('a,', length)}b from t`
      const { result, turns } = await withTurns(() => find({ sql: list }))
      assert.deepEqual(result, [])
      assert.ok(turns > 1, String(turns))
      const reasons = async (text: string) => (await find({ sql: text })).map(({ reason }) => reason)
      const removing = `${list.slice(0, length - 10_000)}b; delete from t`
      assert.deepEqual(await reasons(removing), await reasons('select b; delete from t'))
      assert.deepEqual(await reasons(`${list}${filled(',c', 262_300 - length)}`), ['is over 262144 bytes long'])
    })
  }
  it('as commands, many of them in one call, and are judged as short ones are', async () => {
    const find = await loaded(shell, { args: ['/command/*'], allow: ['ls'] })
    const long = `ls ${filled('a ', 30_000)}`
    const command = [long, `${long}; rm b`, 'ls', long, ['ls', ...Array(20_000).fill('c')], ['rm', ...long.split(' ')]]
    const { result, turns } = await withTurns(() => find({ command }))
    assert.ok(turns > 1, String(turns))
    assert.deepEqual(
      result.map(({ pointer, reason }) => `${pointer} ${reason}`),
      ['/command/1 runs rm, which is not allowed', '/command/5 runs rm, which is not allowed'],
    )
  })
  it('as lists of more words than are read', async () => {
    const find = await loaded(shell, { args: ['/command'], allow: ['ls'] })
    const [finding] = await find({ command: Array(70_000).fill('ls') })
    assert.equal(finding?.reason, 'is over 65536 words long')
  })
  const deny = ['**/*.x', '**/.env*', '**/b/**']
  const folders = { args: ['/path'], inside: ['/data'], symlinks: 'ignore', deny } as const
  it('as paths of thousands of folders, each held against patterns', async () => {
    const find = await loaded(path, { ...folders, inside: ['/data'], args: ['/path/*'], deny: [...deny] })
    // several, since a fast machine needs less than one turn for one
    const paths = Array.from({ length: 12 }, (_, at) => `/data/${at}/${filled('a/', 1_800)}`)
    const { turns } = await withTurns(() => find({ path: paths }))
    assert.ok(turns > 1, String(turns))
  })
  it('as paths for which patterns have too many ways to match, which nobody waits for', async () => {
    const reason = 'has too many folders or letters for the patterns it is held against'
    for (const [pattern, part] of [
      ['*/**/*/**/*/**/*.x', 'a/'],
      ['**/*a*a*a*a*b', 'a'],
      ['**/+(a|b)*a*a*b', 'a'],
    ] as const) {
      const find = await loaded(path, { ...folders, inside: ['/data'], args: ['/path'], deny: [pattern] })
      const [finding] = await find({ path: `/data/${filled(part, 2_000)}` })
      assert.deepEqual([finding?.reason, finding?.certain], [reason, false], pattern)
      assert.deepEqual(await find({ path: `/data/${filled(part, 24)}c` }), [])
    }
  })
  it('as hundreds of thousands of values whose sizes are taken', async () => {
    const find = await loaded(size, { max_items: 1_000_000, max_string_bytes: 3, max_depth: 3 })
    const list = Array.from({ length: 300_000 }, (_, index) => ({ a: index }))
    const { result, turns } = await withTurns(() => find({ list }))
    assert.ok(turns > 1, String(turns))
    assert.deepEqual(
      result.map(({ reason }) => reason),
      ['holds a string of 4 bytes, 3 allowed'],
    )
  })
})
