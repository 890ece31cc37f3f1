import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { allServers, emptyConfig } from '../../../../presets/default/config/defaults.ts'
import { withOverrides } from '../../../../presets/default/config/overrides.ts'

describe('command-line flags', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-flags-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))
  const fileOf = (data: string) => withOverrides(emptyConfig(), { data }, folder).storage.file

  it('override server.host and server.port', () => {
    const { server } = withOverrides(emptyConfig(), { host: '::1', port: '0' }, folder)
    assert.equal(server.host, '::1')
    assert.equal(server.port, 0)
    assert.equal(server.max_in_flight, 2000)
  })
  it('change nothing if absent, and never modify the given configuration', () => {
    const config = emptyConfig()
    assert.deepEqual(withOverrides(config, {}, folder), config)
    withOverrides(config, { host: '::1' }, folder)
    assert.equal(config.server.host, '127.0.0.1')
  })
  it('reject a database folder that cannot be created', { skip: process.platform !== 'linux' }, () => {
    assert.throws(() => fileOf('/proc/none/x/'), {
      code: 'USAGE',
      message: /\/proc\/none\/x cannot be written: .*--data/,
    })
  })
  it('reject an invalid port', () => {
    for (const port of ['65536', '-1', '80a', '', '1e3'])
      assert.throws(() => withOverrides(emptyConfig(), { port }, folder), { code: 'USAGE' })
  })
  it('need a value', () => {
    for (const name of ['host', 'data', 'policy'])
      assert.throws(() => withOverrides(emptyConfig(), { [name]: '' }, folder, 'mcp serve'), {
        code: 'USAGE',
        message: `--${name} needs a value.`,
      })
  })
  it('reject two servers of one name', () => {
    const server = ['a=http://127.0.0.1:1/', 'b=http://127.0.0.1:2/', 'a=http://127.0.0.1:3/']
    assert.throws(() => withOverrides(emptyConfig(), { server }, folder, 'mcp serve'), /--server names "a" twice/)
  })
  it('choose the bundle of "mcp run"; without one, it serves no server of the configuration', () => {
    const config = emptyConfig()
    const { mcp } = { ...config, mcp: { ...config.mcp, bundles: { work: allServers(), other: allServers() } } }
    const chosen = (options: Readonly<Record<string, unknown>>) =>
      Object.keys(withOverrides({ ...config, mcp }, options, folder, 'mcp run').mcp.bundles)
    assert.deepEqual([chosen({}), chosen({ bundle: 'work' }), chosen({ bundle: 'all' })], [[], ['work'], ['all']])
    assert.throws(() => chosen({ bundle: 'x\u001b[2J' }), {
      code: 'USAGE',
      message: /There is no bundle "x[^\u001b]*" in mcp\.bundles; there is work, other, all\./,
    })
  })
  it('accept a folder or a file for the database', async () => {
    await mkdir(join(folder, 'there'))
    assert.equal(fileOf('there'), join(folder, 'there', 'guard.db'))
    assert.equal(fileOf('traces.db'), join(folder, 'traces.db'))
    assert.equal(fileOf('new/deep/'), join(folder, 'new', 'deep', 'guard.db'))
    assert.equal((await stat(join(folder, 'new', 'deep'))).mode & 0o777, 0o700)
  })
})
