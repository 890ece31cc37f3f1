import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { calledAs, ownCommand } from '../../../presets/default/command-prefix.ts'
import { configured } from '../../../presets/default/commands.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'

const root = join(import.meta.dirname, '../../..')
const unnamed = { file: '/w/guard-config.yml', named: false }
const script = { npm_command: 'run-script', npm_lifecycle_event: 'guard', npm_package_json: join(root, 'package.json') }
const here = (env: Readonly<Record<string, string>>, argv1 = '/usr/bin/guard', where = unnamed) =>
  calledAs({ env }, where, ['node', argv1]).here

describe('the command line of this program', () => {
  it('uses npm for a script of this package, with --prefix outside of the folder', () => {
    assert.equal(here({ ...script, INIT_CWD: join(root, 'core') }), 'npm run -s guard --')
    assert.equal(here({ ...script, INIT_CWD: '/' }), `npm run -s --prefix ${root} guard --`)
  })
  it('uses the name under other npm scripts, and npx in a project', () => {
    assert.equal(here({}), 'guard')
    assert.equal(here({ ...script, npm_package_json: '/w/package.json' }), 'guard')
    assert.equal(here({ ...script, npm_package_json: '/w/package.json' }, '/w/node_modules/.bin/guard'), 'npx guard')
    assert.equal(here({ ...script, npm_command: 'exec' }, '/w/node_modules/.bin/guard'), 'npx guard')
  })
  it('uses the name of the package where npx keeps it', () => {
    for (const name of ['guard', 'guard-gateway'])
      assert.equal(here({ npm_command: 'exec' }, `/h/.npm/_npx/1/node_modules/.bin/${name}`), 'npx guard-gateway')
    assert.equal(here({}, '/w/node_modules/.bin/guard-gateway'), 'npx guard-gateway')
  })
  it('names the file that npx was given, and the Node beside it, again', async () => {
    const home = await mkdtemp(join(tmpdir(), 'guard-npx-'))
    const folder = join(home, '.npm/_npx/1')
    await mkdir(folder, { recursive: true })
    const called = async (packages: readonly string[], own: string) => {
      const npx = { _npx: { packages }, dependencies: { 'guard-gateway': own } }
      await writeFile(join(folder, 'package.json'), JSON.stringify(npx))
      return here({ npm_command: 'exec' }, join(folder, 'node_modules/.bin/guard-gateway'))
    }
    const file = `file:${join(home, 'g.tgz')}`
    assert.equal(await called(['file:./g.tgz'], 'file:../../../g.tgz'), `npx ${file}`)
    const both = `npx -p node@24 -p ${file} guard-gateway`
    assert.equal(await called(['node@24', 'file:./g.tgz'], 'file:../../../g.tgz'), both)
    const published = 'npx -p node@24 -p guard-gateway guard-gateway'
    assert.equal(await called(['node@24', 'guard-gateway'], '^0.1.0'), published)
    await rm(home, { recursive: true })
  })
  it('includes --config if the file is not found by default', () => {
    assert.equal(
      here({}, '/usr/bin/guard', { file: "/w/ann's/g.yml", named: true }),
      "guard --config '/w/ann'\\''s/g.yml'",
    )
  })
  it('includes --config for use in any folder', () => {
    const anywhere = (env: Readonly<Record<string, string>>, argv1: string) =>
      calledAs({ env }, unnamed, ['node', argv1]).anywhere
    const config = '--config /w/guard-config.yml'
    assert.equal(anywhere(script, ''), `npm run -s --prefix ${root} guard -- ${config}`)
    assert.equal(anywhere({}, '/w/node_modules/.bin/guard'), `/w/node_modules/.bin/guard ${config}`)
    assert.equal(anywhere({}, '/w/bin.js'), `${ownCommand().join(' ')} ${config}`)
  })
  it('is set on the gateway', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-called-'))
    await writeFile(join(folder, 'g.yml'), 'gateway_key: guard_0123456789abcdef')
    const gateway = await configured({ config: 'g.yml', quiet: true }, undefined, fakeIo({ cwd: folder }))
    assert.equal(gateway.calledAs.here, `guard --config ${join(folder, 'g.yml')}`)
    await rm(folder, { recursive: true })
  })
  it('appears on pages for copying', async () => {
    const started = await startGateway()
    started.gateway.calledAs = { here: 'npx guard', anywhere: '/w/guard' }
    const offered = async (path: string) => {
      const page = await fetch(started.url + path, { headers: { accept: 'text/html' } })
      return [...(await page.text()).matchAll(/data-copy="([^"]+)"/g)].map(([, command]) => command)
    }
    const two = ['npx guard run -- claude', 'npx guard playground run exact-loop']
    const [first, second, curl = ''] = await offered('/')
    assert.deepEqual([first, second], two)
    assert.match(curl, /\$\(npx guard key print\)/)
    assert.deepEqual(await offered('/replay'), two)
    assert.deepEqual(await offered('/sessions'), two)
    assert.match(String(await offered('/mcp')), /^\/w\/guard mcp run --server-id files -- /)
    await started.close()
  })
})
