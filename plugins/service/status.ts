import type { Input, Io } from 'guard-gateway/lib/command'
import { terminalText } from 'guard-gateway/lib/text'
import { configFolder, managerHere, usableManager } from './find-manager.ts'
import { keysIn } from './keys.ts'
import { healthAt, isReady } from './probe.ts'
import { receiptIn } from './receipt.ts'
import type { ServiceOptions } from './setting.ts'
import { textAt } from './write-file.ts'

/** `guard service status`: exit code 0 where the service runs and takes requests. */
export const status = async (options: ServiceOptions, input: Input, io: Io): Promise<number> => {
  const text = textAt(managerHere(options, io).file)
  if (text === undefined) return absent(input, io)
  const manager = await usableManager(options, io)
  const receipt = receiptIn(text)
  const state = await manager.state()
  const address = receipt && (await addressOf(receipt.config, options, io))
  const ready = address !== undefined && (await isReady(address))
  const found = {
    installed: true,
    edited: receipt?.intact !== true,
    ...state,
    address: address ?? null,
    ready,
    health: address === undefined ? null : ((await healthAt(address)) ?? null),
    config: receipt?.config ?? null,
    file: manager.file,
    log: manager.log,
    notices: await manager.notices(),
  }
  if (input.options.json === true) io.out.write(`${JSON.stringify(found)}\n`)
  else io.out.write(`${terminalText(lines(found).join('\n'))}\n`)
  return state.running && ready ? 0 : 1
}

const absent = ({ options }: Input, { out }: Io): number => {
  if (options.json === true) out.write(`${JSON.stringify({ installed: false, running: false })}\n`)
  else out.write('No service is installed; "guard service install" does that.\n')
  return 1
}

/** Undefined where the configuration cannot be read any more. */
const addressOf = async (file: string, options: ServiceOptions, io: Io): Promise<string | undefined> => {
  try {
    const env = { ...io.env, ...keysIn(`${configFolder(io)}/guard/keys.env`) }
    await options.trust?.(file, env)
    return (await options.read(file, env)).address
  } catch {
    return undefined
  }
}

interface Found {
  readonly edited: boolean
  readonly enabled: boolean
  readonly running: boolean
  readonly pid: number | null
  readonly since: string | null
  readonly exit_code: number | null
  readonly address: string | null
  readonly ready: boolean
  readonly health: string | null
  readonly config: string | null
  readonly file: string
  readonly log: string
  readonly notices: readonly string[]
}

const lines = (found: Found): readonly string[] => [
  `service  ${stateText(found)}${found.enabled ? '' : '; it does not start by itself'}`,
  `address  ${addressText(found)}`,
  `config   ${found.config ?? 'unknown'}`,
  `file     ${found.file}${found.edited ? ' (edited)' : ''}`,
  `log      ${found.log}`,
  ...found.notices,
]

const stateText = ({ running, pid, since, exit_code }: Found): string => {
  if (!running) return `does not run${exit_code === null ? '' : `; it ended with code ${exit_code}`}`
  return `runs${since === null ? '' : ` since ${since}`}${pid === null ? '' : `, process ${pid}`}`
}

const addressText = ({ address, ready, health }: Found): string => {
  if (address === null) return 'unknown: the configuration cannot be read'
  return `${address}, ${ready ? `takes requests, health ${health ?? 'unknown'}` : 'takes no requests'}`
}
