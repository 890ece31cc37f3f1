import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { serviceHome } from './kit.ts'

const plist = (home: string): string => join(home, 'Library/LaunchAgents/guard-gateway.plist')
const domain = `gui/${userInfo().uid}`

describe('guard service, with launchd', () => {
  it('installs a launch agent, says what it is, and removes it', async () => {
    await using place = await serviceHome('darwin')
    const { code, err } = await place.guard('install', { env: ['MODEL_KEY'] }, { env: { MODEL_KEY: 'sk-secret-1' } })
    assert.equal(code, 0, err)
    const text = readFileSync(plist(place.home), 'utf8')
    assert.ok(text.includes(`<string>--env-file-if-exists=${place.keys}</string>`))
    assert.doesNotMatch(text, /sk-secret/)
    assert.deepEqual(
      place.calls().filter((call) => !call.includes(' print ')),
      [
        `launchctl bootout ${domain}/guard-gateway`,
        `launchctl enable ${domain}/guard-gateway`,
        `launchctl bootstrap ${domain} ${plist(place.home)}`,
      ],
    )
    const status = await place.guard('status')
    assert.equal(status.code, 0)
    assert.match(status.out, /^service {2}runs, process 42\n/)
    assert.match(status.out, /\nlog {6}tail -f \S+\/Library\/Logs\/guard-gateway\.log\n/)
    assert.equal((await place.guard('remove')).code, 0)
    assert.equal(existsSync(plist(place.home)), false)
    assert.ok(place.calls().includes(`launchctl bootout ${domain}/guard-gateway`))
  })
  it('loads a changed agent when the former one has ended', async () => {
    await using place = await serviceHome('darwin', '')
    await place.guard('install')
    place.calls()
    await place.guard('install', { data: `${place.home}/other.db` })
    const done = place.calls()
    const [out, load] = ['bootout', 'bootstrap'].map((word) => done.findIndex((call) => call.includes(word)))
    assert.ok(out !== undefined && load !== undefined && out < load)
    assert.ok(done.slice(out, load).some((call) => call.startsWith('launchctl print')))
  })
  it('says with which code it ended', async () => {
    await using place = await serviceHome('darwin', '')
    await place.guard('install')
    place.state('\tstate = not running\n\tlast exit code = 69\n')
    const { code, out } = await place.guard('status')
    assert.equal(code, 1)
    assert.match(out, /^service {2}does not run; it ended with code 69\n/)
  })
})
