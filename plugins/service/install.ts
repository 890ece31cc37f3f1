import { accessSync, constants } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import { terminalText } from 'guard-gateway/lib/text'
import { awaitStart } from './await-start.ts'
import { serviceErrors } from './error-codes.ts'
import { configFolder, managerHere, usableManager } from './find-manager.ts'
import { chosenKeys, keysIn, keysWarning, storeKeys } from './keys.ts'
import { lastingCommand, lastingPath } from './program.ts'
import { receiptIn, sealed } from './receipt.ts'
import type { ServiceManager } from './service-manager.ts'
import type { ServiceConfig, ServiceOptions, ServiceSetting } from './setting.ts'
import { textAt, writeFileFor } from './write-file.ts'

/** `guard service install`: checks everything that would stop the service, writes its file, starts it and waits until it answers. */
export const install = async (options: ServiceOptions, input: Input, io: Io): Promise<number> => {
  const isPrinted = input.options.print === true
  const manager = isPrinted ? managerHere(options, io) : await usableManager(options, io)
  const { file, chosen, setting, notices } = await prepare(options, input, io)
  const text = sealed(manager.text(setting), file)
  if (isPrinted) {
    io.out.write(text)
    for (const notice of notices) io.err.write(`${terminalText(notice)}\n`)
    return 0
  }
  const before = textAt(manager.file)
  if (before !== undefined && receiptIn(before)?.intact !== true && input.options.force !== true)
    throw new GuardError(
      serviceErrors.SERVICE_EDITED,
      `${manager.file} was edited, or was not written by this command; it was left as it is. Compare it with "--print", and replace it with --force.`,
    )
  const { running } = await manager.state()
  if (!running) await options.checkPort(setting.config.address)
  const hasKeys = Object.keys(chosen).length > 0
  if (hasKeys) storeKeys(setting.keys, chosen)
  if (before !== text) writeFileFor(manager.file, text)
  if (!running || hasKeys || before !== text) await manager.start()
  await awaitStart(manager, setting.config.address, options)
  return tell(manager, setting, [...notices, ...(await manager.notices())], input, io)
}

interface Prepared {
  /** The configuration. */
  readonly file: string
  /** Variables to store. */
  readonly chosen: Readonly<Record<string, string>>
  readonly setting: ServiceSetting
  readonly notices: readonly string[]
}

/** Everything that is known before something is written. Throws what would stop the service. */
const prepare = async (options: ServiceOptions, input: Input, io: Io): Promise<Prepared> => {
  const path = io.env.PATH ?? ''
  const file = options.locate(input.options, io)
  const keys = join(configFolder(io), 'guard/keys.env')
  const chosen = chosenKeys([input.options.env ?? []].flat().map(String), io)
  const stored = { ...keysIn(keys), ...chosen }
  const { named, usual } = await options.variables(file)
  const missing = named.filter((name) => !stored[name])
  if (missing.length > 0) throw keyless(missing, file, keys)
  const program = lastingCommand(options.guard, path)
  const lasting = lastingPath(path, program[0] ?? '')
  const config = await options.read(file, { ...stored, HOME: io.env.HOME, PATH: lasting })
  const { data } = input.options
  const database = typeof data === 'string' ? resolve(io.cwd, data) : undefined
  mayWrite(database === undefined ? config.data : dirname(database))
  await options.trust?.(file, stored)
  const command = [
    ...program,
    ...['gateway', 'run', '--config', file, '--json'],
    ...(database === undefined ? [] : ['--data', /[/\\]$/.test(String(data)) ? `${database}/` : database]),
  ]
  const setting = { command, folder: dirname(file), path: lasting, keys, config }
  const warning = keysWarning(keys)
  const left = usual.filter((name) => io.env[name] && !stored[name])
  return {
    file,
    chosen,
    setting,
    notices: [
      ...config.warnings,
      ...(left.length === 0 ? [] : [leftText(left)]),
      ...(warning === undefined ? [] : [warning]),
    ],
  }
}

const keyless = (missing: readonly string[], file: string, keys: string): GuardError =>
  new GuardError(
    'USAGE',
    `A service has no variables of your shell, and ${file} needs ${missing.join(', ')}. Copy them into ${keys} (mode 600) with ${missing.map((name) => `--env ${name}`).join(' ')}, or write them there.`,
  )

const leftText = (names: readonly string[]): string =>
  `Set here and not for the service: ${names.join(', ')}. If it needs them, install again with ${names.map((name) => `--env ${name}`).join(' ')}.`

/** Throws USAGE where the database could not be written. */
const mayWrite = (folder: string | null): void => {
  if (folder === null) return
  try {
    accessSync(folder, constants.W_OK)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const why = {
      EACCES: 'you may not write there',
      EROFS: 'that file system is read-only',
      ENOENT: 'it does not exist',
    }
    throw new GuardError(
      'USAGE',
      `The folder ${folder} cannot hold the database: ${why[code as keyof typeof why] ?? code}. Name another with --data, or in storage.file.`,
      { cause },
    )
  }
}

const tell = async (
  manager: ServiceManager,
  { config, keys }: { readonly config: ServiceConfig; readonly keys: string },
  notices: readonly string[],
  { options }: Input,
  { out, err }: Io,
): Promise<number> => {
  const { pid } = await manager.state()
  if (options.json === true) {
    out.write(
      `${JSON.stringify({ address: config.address, pid, file: manager.file, keys, log: manager.log, notices })}\n`,
    )
    return 0
  }
  out.write(`The gateway runs for good at ${config.address}, and starts by itself.\n`)
  if (options.quiet === true) return 0
  for (const [name, value] of [
    ['file', manager.file],
    ['log', manager.log],
    ['restart', manager.restart],
    ['remove', 'guard service remove'],
  ])
    err.write(`  ${String(name).padEnd(8)} ${terminalText(String(value))}\n`)
  for (const notice of notices) err.write(`${terminalText(notice)}\n`)
  return 0
}
