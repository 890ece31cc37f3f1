import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { GuardError } from 'guard-gateway/core'
import { errorFromResponse } from 'guard-gateway/lib/errors'
import type { ClientsOptions } from './options.ts'

const START_MS = 15_000
const STEP_MS = 100

/** Starts a gateway, waits until it answers, and returns a function that stops it. Throws GATEWAY_NOT_RUNNING with the gateway's error. */
export const startTemporaryGateway = async ({
  guard,
  gateway_flags = [],
  config,
  running,
}: ClientsOptions): Promise<() => Promise<void>> => {
  const [node = process.execPath, ...args] = guard
  const child = spawn(node, [...gateway_flags, ...args, 'gateway', 'run', '--config', config, '--json', '--quiet'], {
    // the IPC channel closes when this process ends in any way, and that stops the gateway
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Ctrl-C goes to the agent only, which may survive it
    detached: true,
  })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2000)
  })
  // `close` comes after the last output
  let closed = false
  child.once('close', () => {
    closed = true
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  const until = performance.now() + START_MS
  while (!closed && performance.now() < until) {
    if (await isUp(running)) return stop
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
  await stop()
  const { code, message } = errorFromResponse(stderr.trim().split('\n').at(-1) ?? '')
  throw new GuardError('GATEWAY_NOT_RUNNING', `The gateway did not come up: ${message} (${code})`)
}

const isUp = (running: ClientsOptions['running']): Promise<boolean> =>
  running().then(
    () => true,
    () => false,
  )
