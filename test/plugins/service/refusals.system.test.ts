import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { lastingCommand, lastingPath } from '../../../plugins/service/actions.ts'
import { serviceHome } from './kit.ts'

const given = { env: ['MODEL_KEY'] }
const env = { MODEL_KEY: 'sk-1' }

describe('guard service', () => {
  const rows: readonly (readonly [what: string, more: object, said: RegExp])[] = [
    ['in a container', { service: { systemd_folder: '/nowhere' } }, /not started by systemd: in a container run/],
    [
      'in WSL without systemd',
      { service: { systemd_folder: '/nowhere' }, env: { ...env, WSL_DISTRO_NAME: 'Debian' } },
      /WSL was started without systemd: write "\[boot\]" and "systemd=true" into \/etc\/wsl\.conf/,
    ],
    ['without systemctl', { env: { ...env, PATH: '/nowhere' } }, /systemd does not answer \(there is no systemctl\)/],
    ['with sudo', { env: { ...env, SUDO_USER: 'ann' } }, /a service of root: run it as "ann", without sudo/],
    ['on Windows', { service: { platform: 'win32' } }, /Windows has no services of users: install in WSL/],
    ['on another system', { service: { platform: 'freebsd' } }, /no service manager for freebsd here/],
  ]
  for (const [what, more, said] of rows)
    it(`says ${what} in one sentence what to do instead`, async () => {
      await using place = await serviceHome()
      await assert.rejects(
        place.guard('install', given, { env, ...more }),
        (error: Error & { readonly code?: string }) => {
          assert.equal(error.code, 'SERVICE_UNAVAILABLE')
          assert.match(error.message, /^No service was touched: /)
          assert.match(error.message, said)
          assert.doesNotMatch(error.message, /\n/)
          return true
        },
      )
    })
  it('says that the own systemd does not answer, and how to reach it', async () => {
    await using place = await serviceHome()
    const systemctl = '#!/bin/sh\necho "Failed to connect to bus: No medium found" >&2\nexit 1\n'
    writeFileSync(join(place.home, '../bin/systemctl'), systemctl)
    await assert.rejects(
      place.guard('install', given, { env }),
      /does not answer \(Failed to connect to bus: No medium found\): log in as this user directly, .*XDG_RUNTIME_DIR/,
    )
  })
  it('tells who has the port, before anything is written', async () => {
    await using place = await serviceHome()
    const { checkPort } = (await import('../../../presets/default/service-options.ts')).serviceOptions()
    await assert.rejects(place.guard('install', given, { env, service: { checkPort } }), { code: 'PORT_TAKEN' })
    assert.deepEqual(
      place.calls().filter((call) => call.includes('enable')),
      [],
    )
  })
  it('says where there is no configuration, or one that cannot be used', async () => {
    await using place = await serviceHome()
    writeFileSync(place.config, 'gateway_key: guard_0123456789abcdef\nservr: {}\n')
    await assert.rejects(place.guard('install'), { code: 'INVALID_CONFIG', message: /:2:1: .*servr/ })
    await assert.rejects(place.guard('install', { config: 'none.yml' }), /none\.yml cannot be read\. .*--config/)
  })
  it('refuses a folder for the database that is not there', async () => {
    await using place = await serviceHome()
    const more = { ...given, data: '/nowhere/guard.db' }
    await assert.rejects(
      place.guard('install', more, { env }),
      /The folder \/nowhere cannot hold the database: it does not exist\. Name another with --data/,
    )
  })
  it('says that its file cannot be written', async () => {
    await using place = await serviceHome('linux', '')
    writeFileSync(join(place.home, '.config'), '')
    await assert.rejects(
      place.guard('install'),
      /guard-gateway\.service cannot be written: a file stands where a folder is needed \(ENOTDIR\)\. .*home that can be written/,
    )
  })
})

describe('the command line of a service', () => {
  for (const script of [
    '/home/a/.npm/_npx/0123/node_modules/.bin/guard',
    '/home/a/.cache/pnpm/dlx-123/node_modules/.bin/guard',
    '/tmp/bunx-0-guard-gateway@latest/node_modules/.bin/guard',
  ])
    it(`is refused where it is in a cache: ${script}`, () => {
      assert.throws(() => lastingCommand(['/usr/bin/node', script], ''), /is in a folder that is emptied.*npm install/)
    })
  it('is absolute, and keeps the flags of node', () => {
    const command = ['/usr/bin/node', '--conditions=x', '/opt/guard/bin.js']
    assert.deepEqual(lastingCommand(command, ''), command)
  })
  it('has a path without folders of one shell or one project', () => {
    const path = '/a/node_modules/.bin:/run/user/1/fnm_multishells/1_2/bin:.:/usr/bin:/opt/tools'
    assert.equal(lastingPath(path, '/n/bin/node'), '/n/bin:/usr/bin:/opt/tools:/usr/local/bin:/bin')
  })
})
