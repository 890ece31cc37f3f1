import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Input } from '#lib/command'
import { serviceCommands } from '../../../plugins/service/index.ts'
import type { ServiceOptions } from '../../../plugins/service/setting.ts'
import { serviceOptions } from '../../../presets/default/service-options.ts'
import { fakeIo } from '../../kit/io.ts'

/** A home without a service, and what stands for a service manager: programs that note how they were called. */
export interface ServiceHome extends AsyncDisposable {
  readonly home: string
  readonly config: string
  readonly keys: string
  /** Calls of systemctl and launchctl so far, and no more. */
  calls(): readonly string[]
  /** What `systemctl show` or `launchctl print` answer from now on. */
  state(text: string): void
  guard(
    id: string,
    options?: Input['options'],
    more?: { readonly env?: Readonly<Record<string, string>>; readonly service?: Partial<ServiceOptions> },
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }>
}

export const RUNNING =
  'ActiveState=active\nMainPID=42\nUnitFileState=enabled\nActiveEnterTimestamp=Sat 2026-01-31 12:00:00 UTC\nExecMainStatus=0\n'
export const STOPPED = 'ActiveState=inactive\nMainPID=0\nUnitFileState=\nActiveEnterTimestamp=\nExecMainStatus=0\n'
const MORE =
  'upstreams: [{ name: a, base_url: "http://127.0.0.1:9", api_key: "$' + '{MODEL_KEY}", styles: [messages] }]\n'

/** `start` makes a service run: then something answers at the address of the configuration. */
export const serviceHome = async (platform: NodeJS.Platform = 'linux', config = MORE): Promise<ServiceHome> => {
  const root = mkdtempSync(join(tmpdir(), 'guard-service-'))
  const [home, bin] = [join(root, 'home'), join(root, 'bin')]
  for (const folder of [home, bin, join(root, 'run')]) mkdirSync(folder)
  const [log, state] = [join(root, 'calls'), join(root, 'state')]
  const answering = await answer()
  const started = platform === 'darwin' ? '\tstate = running\n\tpid = 42\n' : RUNNING
  const stopped = platform === 'darwin' ? '' : STOPPED
  const programs: Readonly<Record<string, string>> = {
    systemctl: `case "$2" in show) case "$*" in *Version*) ;; *) cat "${state}";; esac;;
      restart) printf '%s' "${started}" > "${state}";; disable) printf '%s' "${stopped}" > "${state}";; esac`,
    launchctl: `case "$1" in print) cat "${state}"; [ -s "${state}" ];;
      bootstrap) printf '%s' "${started}" > "${state}";; bootout) : > "${state}";; esac`,
    loginctl: 'echo no',
    journalctl: 'echo \'{"error":{"message":"It is so."}}\'',
  }
  for (const [name, body] of Object.entries(programs)) {
    const file = join(bin, name)
    writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> "${log}"\n${body}\n`)
    chmodSync(file, 0o755)
  }
  writeFileSync(log, '')
  writeFileSync(state, stopped)
  const file = join(home, 'guard-config.yml')
  const port = (answering.address() as AddressInfo).port
  writeFileSync(file, `gateway_key: guard_0123456789abcdef\nserver: { port: ${port} }\n${config}`, { mode: 0o600 })
  const options: ServiceOptions = {
    ...serviceOptions(),
    guard: ['/usr/bin/node', '/opt/guard/bin.js'],
    platform,
    systemd_folder: join(root, 'run'),
    checkPort: async () => {},
    start_ms: 500,
  }
  return {
    home,
    config: file,
    keys: join(home, '.config/guard/keys.env'),
    calls: () => {
      const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
      writeFileSync(log, '')
      return lines
    },
    state: (text) => writeFileSync(state, text),
    async guard(id, flags = {}, { env = {}, service = {} } = {}) {
      const io = fakeIo({ cwd: home, env: { HOME: home, PATH: `${bin}:/usr/bin:/bin`, ...env } })
      const command = serviceCommands({ ...options, ...service }).find((one) => one.id === `service ${id}`)
      if (command === undefined) throw new Error(id)
      const code = await command.run({ args: [], options: flags, rest: [] }, io)
      return { code, out: io.outText(), err: io.errText() }
    },
    async [Symbol.asyncDispose]() {
      await new Promise((closed) => answering.close(closed))
      rmSync(root, { recursive: true })
    },
  }
}

/** What answers as a gateway does. */
const answer = async (): Promise<Server> => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end('{"status":"ok"}')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}
