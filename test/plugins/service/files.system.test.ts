import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { plistText } from '../../../plugins/service/launchd.ts'
import { RECEIPT, receiptIn, sealed } from '../../../plugins/service/receipt.ts'
import type { ServiceSetting } from '../../../plugins/service/setting.ts'
import { unitText } from '../../../plugins/service/systemd.ts'
import { installed } from '../../kit/installed.ts'

const root = mkdtempSync(join(tmpdir(), 'guard-files-'))
after(() => rmSync(root, { recursive: true }))

/** Everything that means something in a unit, in XML or in a shell. */
const ODD = `it's 5%n of "a" <b> & $HOME \${x} \\t --é`
const folder = join(root, ODD)
mkdirSync(folder)
const node = join(folder, 'node')
symlinkSync(process.execPath, node)
const args = ['gateway', 'run', '--config', join(folder, 'c.yml'), ODD, 'line\nbreak']

const setting = (shared = false): ServiceSetting => ({
  command: [node, ...args],
  folder,
  path: `${folder}:/usr/bin`,
  keys: join(folder, 'keys.env'),
  config: { address: 'http://127.0.0.1:1', data: null, shared, shutdown_grace_seconds: 0.5, warnings: [] },
})

describe('a unit of systemd', () => {
  const analyze = installed('systemd-analyze')
  it('is valid for systemd with any path', { skip: analyze.absent }, () => {
    const file = join(root, 'guard-gateway.service')
    writeFileSync(file, sealed(unitText(setting()), join(folder, 'c.yml')))
    const said = execFileSync(analyze.path, ['verify', '--user', file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, XDG_RUNTIME_DIR: root },
    })
    assert.equal(said, '')
  })
  it('lets a database that is away be tried again, where it is one of a server', () => {
    assert.match(unitText(setting(true)), /^RestartPreventExitStatus=2 78$/m)
    assert.match(unitText(setting()), /^TimeoutStopSec=16$/m)
  })
  for (const path of ['/a\nExecStart=/bin/false', '/a ', '/a\\'])
    it(`is not made for the path ${JSON.stringify(path)}`, () => {
      const made = () => unitText({ ...setting(), folder: path })
      assert.throws(made, /cannot stand in a unit of systemd: it has a line break, or ends with a blank or a backslash/)
    })
})

describe('a property list', () => {
  const python = installed('python3')
  it('says to a parser exactly what was meant', { skip: python.absent }, () => {
    const file = join(root, 'guard-gateway.plist')
    writeFileSync(file, sealed(plistText(setting(), join(folder, 'log')), join(folder, 'c.yml')))
    const read = 'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))'
    const found = JSON.parse(execFileSync(python.path, ['-c', read, file], { encoding: 'utf8' }))
    assert.deepEqual(found.ProgramArguments, [node, `--env-file-if-exists=${folder}/keys.env`, ...args])
    assert.deepEqual(
      [found.Label, found.WorkingDirectory, found.EnvironmentVariables, found.StandardErrorPath, found.ExitTimeOut],
      ['guard-gateway', folder, { PATH: `${folder}:/usr/bin` }, join(folder, 'log'), 16],
    )
    assert.deepEqual([found.RunAtLoad, found.KeepAlive], [true, { SuccessfulExit: false }])
  })
  it('is not made of what XML cannot hold', () => {
    assert.throws(() => plistText({ ...setting(), folder: '/a\u0001' }, '/log'), /cannot stand in a property list/)
  })
})

describe('the receipt in a file', () => {
  const config = join(folder, 'guard-config.yml')
  const text = sealed(`# ${RECEIPT}\nA=1\n`, config)
  it('names the configuration, and holds what a comment of XML may', () => {
    assert.deepEqual(receiptIn(text), { config, intact: true })
    assert.doesNotMatch(text, /--/)
  })
  it('tells an edited file, and one of somebody else', () => {
    assert.equal(receiptIn(text.replace('A=1', 'A=2'))?.intact, false)
    assert.equal(receiptIn('A=1\n'), undefined)
  })
})
