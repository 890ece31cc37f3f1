import { spawn } from 'node:child_process'
import { GuardError, type Io } from 'guard-gateway/core'

const PROBE_MS = 1_000

/** Opens a page of the gateway that runs, and prints its address for whoever has no browser here. Throws GATEWAY_NOT_RUNNING. */
export const openInBrowser = async (address: string, path: string, io: Io): Promise<number> => {
  if (!(await isServing(address)))
    throw new GuardError('GATEWAY_NOT_RUNNING', `No gateway answers at ${address}. Start it with "guard gateway run".`)
  io.out.write(`${address}${path}\n`)
  const [command, ...args] = openers[process.platform] ?? ['xdg-open']
  // without a display there is no browser to open
  const shown = process.platform !== 'linux' || (io.env.DISPLAY ?? io.env.WAYLAND_DISPLAY) !== undefined
  if (command !== undefined && shown && !io.env.CI) {
    const child = spawn(command, [...args, address + path], { stdio: 'ignore', detached: true })
    child.on('error', () => {})
    child.unref()
  }
  return 0
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Whether a gateway answers at this address. */
export const isServing = async (address: string): Promise<boolean> => {
  try {
    return (await fetch(`${address}/api/health`, { signal: AbortSignal.timeout(PROBE_MS) })).ok
  } catch {
    return false
  }
}
