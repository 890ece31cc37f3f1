import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { KEYS } from './keys.ts'

/** The life of a service, step by step, beside a systemd of its own. Prints what each step came to, as JSON. */
const [folder = '', ...program] = process.argv.slice(2)
const config = join(folder, 'guard-config.yml')

const guard = (...words: readonly string[]) => {
  const argv = [...program, 'service', ...words]
  const env = { ...process.env, ...KEYS }
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: folder, encoding: 'utf8', env })
  return { code: status, out: stdout, err: stderr }
}
const show = (property: string): string =>
  execFileSync('systemctl', ['--user', 'show', 'guard-gateway', '-p', property, '--value'], { encoding: 'utf8' }).trim()

const installed = guard('install', ...Object.keys(KEYS).flatMap((name) => ['--env', name]), '--json')
const pid = show('MainPID')
const environ = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
const running = guard('status', '--json')
const stopped = { code: execFileSync('systemctl', ['--user', 'stop', 'guard-gateway'], { encoding: 'utf8' }) }
const afterStop = { result: show('Result'), exit: show('ExecMainStatus') }
writeFileSync(config, `${readFileSync(config, 'utf8')}nonsense: 1\n`)
spawnSync('systemctl', ['--user', 'start', 'guard-gateway'])
while (show('ActiveState') === 'active' || show('ActiveState') === 'activating') spawnSync('sleep', ['0.05'])
const broken = { restarts: show('NRestarts'), state: show('ActiveState'), exit: show('ExecMainStatus') }
const brokenStatus = guard('status', '--json')
const removed = guard('remove', '--json')
const left = spawnSync('systemctl', ['--user', 'cat', 'guard-gateway'], { encoding: 'utf8' }).stderr
const found = { installed, environ, running, stopped, afterStop, broken, brokenStatus, removed, left }
process.stdout.write(`${JSON.stringify(found)}\n`)
