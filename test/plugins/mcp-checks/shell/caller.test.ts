import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { loaded } from '../../../conformance/mcp-check.ts'
import { callerAttacks, callerCalls, callerPrograms } from './rows.ts'

type Options = Parameters<typeof shell.find>[1]

const reasons = async (options: Partial<Options>, command: unknown): Promise<string[]> => {
  const find = await loaded(shell, { args: ['/command'], ...options })
  return (await find({ command })).map(({ reason }) => reason)
}

describe('shell patterns that allow programs which do what their arguments say', () => {
  const caller = { allow: callerPrograms }
  for (const command of callerCalls) {
    it(`pass ${JSON.stringify(command)}`, async () => assert.deepEqual(await reasons(caller, command), []))
  }
  for (const command of callerAttacks) {
    it(`refuse ${JSON.stringify(command)}`, async () => assert.equal((await reasons(caller, command)).length, 1))
  }
  it('let an entry name what its own words do', async () => {
    for (const allow of ['make -C /srv/x', 'npm --prefix /srv/x', 'curl -o x'])
      assert.deepEqual(await reasons({ allow: [allow] }, `${allow} test`), [], allow)
  })
})

describe('entries of a shell check that are whole commands', () => {
  it('allow no further word', async () => {
    const whole = { allow: [{ command: 'make test', end: true }, { command: 'git log' }, 'ls'] }
    for (const command of ['make test', 'make  "test"', 'ls && make test', 'git log -3', 'ls -l'])
      assert.deepEqual(await reasons(whole, command), [], command)
    for (const command of ['make test x', 'make test ARGS=a', 'make test --', 'make', 'make testx', 'FOO=1 make test'])
      assert.equal((await reasons(whole, command)).length, 1, command)
    const acting = { allow: [{ command: 'tar -xf a.tar --to-command=cat', end: true }] }
    assert.deepEqual(await reasons(acting, 'tar -xf a.tar --to-command=cat'), [])
    assert.deepEqual(await reasons(whole, ['make', 'test']), [])
    assert.equal((await reasons(whole, ['make', 'test', 'x'])).length, 1)
  })
})

describe('shell patterns that only deny', () => {
  it('refuse what make pastes into a command of its own', async () => {
    const deny = { deny: ['rm'] }
    for (const command of ["make test ARGS='; rm x'", "just test '; rm x'"])
      assert.equal((await reasons(deny, command)).length, 1, command)
    assert.deepEqual(await reasons(deny, 'make test ARGS=-v'), [])
  })
})
