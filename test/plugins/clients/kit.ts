import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { requireGateway } from 'guard-gateway/plugins/cli'
import { type ClientsOptions, clients } from 'guard-gateway/plugins/clients'
import { foundation } from 'guard-gateway/presets/foundation'
import { commandKind } from '#lib/command'
import { fakeIo } from '../../kit/io.ts'

export const KEY = 'guard_key-of-these-tests-0123456789abcdef'

/** A folder of its own, and commands that work in it, on a terminal if `tty`; `outText` is what the last one has said, `err` what it said to stderr beside the line that names the project of a run, `whole` with it. */
export const workplace = async (
  context: TestContext,
  options: Partial<ClientsOptions> = {},
  tty = false,
  secrets = [KEY],
) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-clients-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  const { address = 'http://127.0.0.1:8787' } = options
  const place = { address, gateway_key: KEY, config: join(cwd, 'guard-config.yml') }
  const gateway = new Gateway().use(
    ...foundation(),
    clients({
      ...place,
      upstreams: [],
      allow_mode_header: false,
      guard: [process.execPath, '/opt/guard/bin.js'],
      calledAs: 'guard',
      running: (instead) => requireGateway(place, instead),
      asking: () => Promise.reject(new Error('nobody asks')),
      ...options,
    }),
  )
  let out = () => ''
  for (const secret of secrets) gateway.secrets.add(secret)
  const command = async (
    id: string,
    args: readonly string[],
    flags: Readonly<Record<string, unknown>> = {},
    rest: readonly string[] = [],
    env: Readonly<Record<string, string | undefined>> = {},
    typed = '',
  ) => {
    const io = { ...fakeIo({ cwd, env, tty }), in: Readable.from([typed]) }
    out = io.outText
    const code = await gateway.registry(commandKind).need(id).run({ args, options: flags, rest }, io)
    const whole = io.errText()
    return { code, out: io.outText(), err: whole.replace(/^guard: project .*\n/, ''), whole }
  }
  return { cwd, command, outText: () => out() }
}
