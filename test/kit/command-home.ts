import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Io } from '#lib/command'
import { main } from '../../presets/default/main.ts'
import { startGateway } from './gateway.ts'
import { fakeIo } from './io.ts'

/** What a command line came to. */
export interface Told {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A folder with a configuration, and the command line in it. */
export interface CommandHome {
  readonly folder: string
  guard(...words: readonly string[]): Promise<Told>
  remove(): Promise<void>
}

export interface CommandHomeOptions {
  /** A gateway runs, with its records in memory; else commands open the database of the folder. */
  readonly served?: boolean
  readonly env?: Io['env']
}

/** Makes a folder with a configuration for commands. */
export const commandHome = async ({ served = false, env = {} }: CommandHomeOptions = {}): Promise<CommandHome> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-commands-'))
  const gateway = served ? await startGateway() : undefined
  const port = gateway === undefined ? 0 : new URL(gateway.url).port
  const key = gateway?.key ?? 'guard_command_test_key_0123'
  const config = `gateway_key: ${key}\nserver: { port: ${port} }\nstorage: { file: guard.db }\n`
  await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
  return {
    folder,
    async guard(...words) {
      const io = fakeIo({ cwd: folder, env: { CI: '1', ...env } })
      const code = await main(words, io)
      return { code, out: io.outText(), err: io.errText() }
    },
    async remove() {
      await gateway?.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
