import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { serviceHome } from './kit.ts'

const unit = (home: string): string => join(home, '.config/systemd/user/guard-gateway.service')
const chosen = { env: ['MODEL_KEY'] }
const secret = { env: { MODEL_KEY: 'sk-secret-1' } }

describe('guard service, with systemd', () => {
  it('installs: a unit, the keys that were named in a file of their own, and starts it', async () => {
    await using place = await serviceHome()
    const { code, out, err } = await place.guard('install', chosen, secret)
    assert.equal(code, 0, err)
    assert.match(out, /^The gateway runs for good at http:\/\/127\.0\.0\.1:\d+, and starts by itself\.\n$/)
    assert.match(err, /journalctl --user -u guard-gateway[\s\S]*loginctl enable-linger/)
    assert.equal(readFileSync(place.keys, 'utf8').split('\n')[1], 'MODEL_KEY=sk-secret-1')
    assert.equal(statSync(place.keys).mode & 0o777, 0o600)
    const text = readFileSync(unit(place.home), 'utf8')
    assert.doesNotMatch(text + out + err, /sk-secret/)
    assert.match(text, /^RestartPreventExitStatus=2 69 78$/m)
    assert.match(text, /^TimeoutStopSec=45$/m)
    const done = place.calls().filter((call) => call.startsWith('systemctl') && !call.includes(' show '))
    assert.deepEqual(done, [
      'systemctl --user daemon-reload',
      'systemctl --user enable guard-gateway.service',
      'systemctl --user reset-failed guard-gateway.service',
      'systemctl --user restart guard-gateway.service',
    ])
  })
  it('starts nothing anew where nothing has changed', async () => {
    await using place = await serviceHome()
    await place.guard('install', chosen, secret)
    place.calls()
    assert.equal((await place.guard('install')).code, 0)
    assert.deepEqual(
      place.calls().filter((call) => call.includes('restart')),
      [],
    )
  })
  it('refuses where a variable of the configuration would be missing, and says how to give it', async () => {
    await using place = await serviceHome()
    await assert.rejects(place.guard('install', {}, secret), {
      code: 'USAGE',
      message: `A service has no variables of your shell, and ${place.config} needs MODEL_KEY. Copy them into ${place.keys} (mode 600) with --env MODEL_KEY, or write them there.`,
    })
    assert.equal(existsSync(unit(place.home)), false)
    await assert.rejects(place.guard('install', chosen), /--env MODEL_KEY: this variable is not set here/)
    await assert.rejects(place.guard('install', { env: ['A B'] }), /--env takes the name of a variable, not "A B"/)
    const broken = { env: { MODEL_KEY: 'a\nb' } }
    await assert.rejects(place.guard('install', chosen, broken), /has line breaks or quotes that a file of variables/)
  })
  it('tells of keys that are set here and not for the service', async () => {
    await using place = await serviceHome('linux', '')
    const env = { OPENAI_API_KEY: 'sk-1', HTTPS_PROXY: 'http://proxy:3128' }
    const { err } = await place.guard('install', {}, { env })
    assert.match(
      err,
      /Set here and not for the service: OPENAI_API_KEY, HTTPS_PROXY\. .*--env OPENAI_API_KEY --env HTTPS/,
    )
  })
  it('keeps what a person wrote into the keys file, and warns where others can read it', async () => {
    await using place = await serviceHome()
    mkdirSync(dirname(place.keys), { recursive: true })
    writeFileSync(place.keys, '# mine\nMODEL_KEY=old\nOTHER="a b"\n')
    chmodSync(place.keys, 0o644)
    assert.match((await place.guard('install')).err, /Others can read .*keys\.env, which holds keys; run: chmod 600/)
    await place.guard('install', chosen, { env: { MODEL_KEY: 'new value' } })
    assert.equal(readFileSync(place.keys, 'utf8'), '# mine\nOTHER="a b"\nMODEL_KEY=\'new value\'\n')
  })
  it('prints the unit and writes nothing', async () => {
    await using place = await serviceHome()
    mkdirSync(dirname(place.keys), { recursive: true })
    writeFileSync(place.keys, 'MODEL_KEY=x\n', { mode: 0o600 })
    const { out } = await place.guard('install', { print: true }, { service: { systemd_folder: '/nowhere' } })
    assert.match(out, /^ExecStart="\/usr\/bin\/node" "\/opt\/guard\/bin\.js" "gateway" "run" "--config" /m)
    assert.equal(existsSync(unit(place.home)), false)
  })
  it('replaces and removes no unit that was edited, unless told to', async () => {
    await using place = await serviceHome()
    await place.guard('install', chosen, secret)
    appendFileSync(unit(place.home), '# mine\n')
    const edited = readFileSync(unit(place.home), 'utf8')
    for (const id of ['install', 'remove'])
      await assert.rejects(place.guard(id), { code: 'SERVICE_EDITED', message: /was edited.*with --force/ })
    assert.equal(readFileSync(unit(place.home), 'utf8'), edited)
    assert.match((await place.guard('status')).out, /^file {5}\S+ \(edited\)$/m)
    assert.equal((await place.guard('install', { force: true })).code, 0)
    assert.doesNotMatch(readFileSync(unit(place.home), 'utf8'), /# mine/)
  })
  it('says what it is: running since when, at which address, where its log is', async () => {
    await using place = await serviceHome()
    assert.deepEqual([(await place.guard('status')).code, place.calls()], [1, ['']])
    await place.guard('install', chosen, secret)
    const { code, out } = await place.guard('status')
    assert.equal(code, 0)
    assert.match(out, /^service {2}runs since Sat 2026-01-31 12:00:00 UTC, process 42\n/)
    assert.match(out, /\naddress {2}http:\/\/127\.0\.0\.1:\d+, takes requests, health ok\n/)
    place.state('ActiveState=failed\nMainPID=0\nUnitFileState=enabled\nExecMainStatus=78\n')
    const failed = await place.guard('status', { json: true })
    assert.equal(failed.code, 1)
    const { running, exit_code, config } = JSON.parse(failed.out)
    assert.deepEqual([running, exit_code, config], [false, 78, place.config])
  })
  it('says in one sentence why it did not start', async () => {
    await using place = await serviceHome()
    place.state('ActiveState=failed\nExecMainStatus=78\n')
    const script = readFileSync(join(place.home, '../bin/systemctl'), 'utf8')
    writeFileSync(join(place.home, '../bin/systemctl'), script.replace(/restart\) [\s\S]*?;;/, 'restart) ;;'))
    await assert.rejects(place.guard('install', chosen, secret), {
      code: 'SERVICE_FAILED',
      message:
        'The service was installed and ended with code 78: It is so. Its log: journalctl --user -u guard-gateway',
    })
  })
  it('removes what it wrote and nothing else', async () => {
    await using place = await serviceHome()
    await place.guard('install', chosen, secret)
    place.calls()
    const { code, out, err } = await place.guard('remove')
    assert.equal(code, 0)
    assert.match(out, /is stopped and removed/)
    assert.equal(err, `These stay: ${place.config}, ${place.keys}\n`)
    assert.ok(place.calls().includes('systemctl --user disable --now guard-gateway.service'))
    assert.deepEqual(
      [unit(place.home), place.keys, place.config].map((file) => existsSync(file)),
      [false, true, true],
    )
    assert.match((await place.guard('remove')).out, /No service is installed/)
  })
})
