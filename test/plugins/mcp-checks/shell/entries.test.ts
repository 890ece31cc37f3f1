import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { loaded } from '../../../conformance/mcp-check.ts'

type Options = Parameters<typeof shell.find>[1]

describe('entries of a shell check', () => {
  const refuses = async (options: Partial<Options>, command: string): Promise<boolean> => {
    const find = await loaded(shell, { args: ['/command'], ...options })
    return (await find({ command })).length === 1
  }
  it('take an asterisk within a denied word for any characters', async () => {
    const denied: Readonly<Record<string, readonly string[]>> = {
      'npm run deploy:*': ['npm run deploy:prod', 'npm run deploy: x', 'npm run deploy', 'npm -s run-script deploy:a'],
      'mkfs*': ['mkfs.ext4 x', 'mkfs x'],
      'docker * prod*db': ['docker restart prod-db', 'docker stop proddb'],
      'rm:*': ['rm x', 'rm'],
      'git push --force*': ['git push --force-with-lease'],
    }
    const passing: Readonly<Record<string, readonly string[]>> = {
      'npm run deploy:*': ['npm run deployx', 'npm run test:deploy:x', 'npm test'],
      'mkfs*': ['mk x'],
      'docker * prod*db': ['docker restart prod', 'docker stop db', 'docker stop prob'],
      'rm:*': ['rmx'],
      'git push --force*': ['git push --follow-tags'],
    }
    for (const [entry, commands] of Object.entries(denied))
      for (const command of commands) assert.ok(await refuses({ deny: [entry] }, command), command)
    for (const [entry, commands] of Object.entries(passing))
      for (const command of commands) assert.ok(!(await refuses({ deny: [entry] }, command)), command)
  })
  it('compare an asterisk within an allowed word as it is, and warn of it', async () => {
    assert.ok(await refuses({ allow: ['npm run test:*'] }, 'npm run test:unit'))
    assert.ok(!(await refuses({ allow: ['find . -name *.ts'] }, "find . -name '*.ts' -print")))
    const warned = shell.lint?.({ args: ['/c'], allow: ['npm run test:*', 'git log *', 'git * status', '*', 'ls'] })
    assert.deepEqual(
      warned?.map(({ code, message }) => [code, message.split('"')[1]]),
      ['npm run test:*', 'git * status', '*'].map((entry) => ['SHELL_ASTERISK_LITERAL', entry]),
    )
  })
  it('mean a program in every version and by the name that GNU gives it elsewhere', async () => {
    for (const [entry, command] of [
      ['python', 'python3.12 x.py'],
      ['pip install', 'pip3 install x'],
      ['rm', 'grm x'],
      ['mkfs', '/sbin/mkfs.ext4 x'],
      ['gcc', 'gcc-13 a.c'],
    ])
      assert.ok(await refuses({ deny: [entry ?? ''] }, command ?? ''), command)
    for (const command of ['grep x', 'gzip x', 'git log', 'go test', 'sqlite3 x', 'base64 x'])
      assert.ok(!(await refuses({ deny: ['rep', 'zip', 'it', 'o', 'sqlite', 'base'] }, command)), command)
  })
  it("mean npm's subcommands by all of their names", async () => {
    for (const [entry, command] of [
      ['npm publish', 'npm publi'],
      ['npm install', 'npm i x'],
      ['npm i', 'npm add x'],
      ['npm run deploy', 'npm run-script deploy'],
      ['npm exec', 'npm x y'],
    ])
      assert.ok(await refuses({ deny: [entry ?? ''] }, command ?? ''), command)
    for (const command of ['npm prune', 'npm test publish', 'npm run install'])
      assert.ok(!(await refuses({ deny: ['npm publish', 'npm install'] }, command)), command)
  })
})
