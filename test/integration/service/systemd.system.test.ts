import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parseEnv, promisify } from 'node:util'
import { guardProgram } from '../../kit/child-gateway.ts'
import { installed } from '../../kit/installed.ts'
import { KEYS } from './keys.ts'

const programs = ['unshare', 'systemctl'].map(installed)
const isRoot = process.getuid?.() === 0
const absent =
  programs.find((program) => program.absent !== false)?.absent ||
  (!isRoot && 'only root may start a systemd of its own here') ||
  (!existsSync('/lib/systemd/systemd') && 'no systemd here')

const steps = join(import.meta.dirname, 'steps.ts')

interface Step {
  readonly code: number
  readonly out: string
  readonly err: string
}
interface Found {
  readonly installed: Step
  readonly environ: readonly string[]
  readonly running: Step
  readonly afterStop: { readonly result: string; readonly exit: string }
  readonly broken: { readonly restarts: string; readonly state: string; readonly exit: string }
  readonly brokenStatus: Step
  readonly removed: Step
  readonly left: string
}

describe('guard service, in a systemd that runs', { skip: absent }, () => {
  const root = mkdtempSync(join(tmpdir(), 'guard-systemd-'))
  const home = join(root, 'a home $HOME, 50%h of [it], \\t*')
  let found: Found
  after(() => {
    rmSync(root, { recursive: true, force: true })
    const groups = ['/sys/fs/cgroup/systemd/guard-test', '/sys/fs/cgroup/guard-test'].filter((name) => existsSync(name))
    for (const group of groups) execFileSync('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'])
  })
  before(async () => {
    mkdirSync(home)
    const port = await freePort()
    const upstream = '{ name: a, base_url: "http://127.0.0.1:9", api_key: "$' + '{MODEL_KEY}", styles: [messages] }'
    const config = `gateway_key: guard_0123456789abcdef\nserver: { port: ${port} }\nupstreams: [${upstream}]\n`
    writeFileSync(join(home, 'guard-config.yml'), config, { mode: 0o600 })
    const apart = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child', '--propagation', 'private']
    const command = [process.execPath, steps, home, ...guardProgram]
    const session = ['sh', join(import.meta.dirname, 'session.sh'), home, ...command]
    const { stdout } = await promisify(execFile)('unshare', [...apart, ...session], { timeout: 120_000 })
    found = JSON.parse(stdout) as Found
  })

  it('is installed, starts by itself and takes requests', () => {
    assert.equal(found.installed.code, 0, found.installed.err)
    assert.equal(found.running.code, 0, found.running.err)
    const { enabled, running, ready, health, edited, config } = JSON.parse(found.running.out)
    assert.deepEqual(
      [enabled, running, ready, health, edited, config],
      [true, true, true, 'ok', false, join(home, 'guard-config.yml')],
    )
    assert.ok(existsSync(join(home, 'guard.db')))
  })
  it('has the keys of the keys file, as Node reads it too, and no other variable of the shell', () => {
    const stored = parseEnv(readFileSync(join(home, '.config/guard/keys.env'), 'utf8'))
    for (const [name, value] of Object.entries(KEYS)) {
      assert.ok(found.environ.includes(`${name}=${value}`), `${name}: ${found.environ.join(' ')}`)
      assert.equal(stored[name], value)
    }
    assert.equal(
      found.environ.some((variable) => variable.startsWith('NODE_TEST_CONTEXT=')),
      false,
    )
  })
  it('ends well when it is stopped', () => {
    assert.deepEqual(found.afterStop, { result: 'success', exit: '0' })
  })
  it('is not started again and again with a configuration that cannot be used', () => {
    assert.deepEqual(found.broken, { restarts: '0', state: 'failed', exit: '78' })
    assert.equal(found.brokenStatus.code, 1)
    assert.equal(JSON.parse(found.brokenStatus.out).exit_code, 78)
  })
  it('is gone after its removal; configuration, database and keys stay', () => {
    assert.equal(found.removed.code, 0, found.removed.err)
    assert.match(found.left, /No files found for guard-gateway\.service/)
    assert.equal(existsSync(join(home, '.config/systemd/user/guard-gateway.service')), false)
    for (const name of ['guard.db', 'guard-config.yml', '.config/guard/keys.env'])
      assert.ok(existsSync(join(home, name)), name)
  })
})

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))
  return port
}
