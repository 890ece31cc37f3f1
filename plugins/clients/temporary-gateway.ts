import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { GuardError } from 'guard-gateway/core'
import { errorFromResponse } from 'guard-gateway/lib/errors'
import type { ClientsOptions } from './options.ts'

const START_MS = 15_000
const STEP_MS = 100

/** Starts a gateway and gives what ends it, once it answers. Throws GATEWAY_NOT_RUNNING with what it said if it does not come up. */
export const startTemporaryGateway = async ({
  guard,
  config,
  running,
}: ClientsOptions): Promise<() => Promise<void>> => {
  const [node = process.execPath, ...words] = guard
  const child = spawn(node, [...words, 'gateway', 'run', '--config', config, '--json', '--quiet'], {
    // the channel says nothing: it closes when this process ends, however it does, and that stops the gateway
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // out of the terminal's reach: Ctrl-C is for the agent, which may well go on after it
    detached: true,
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000)
  })
  // it has said everything by then
  let over = false
  child.once('close', () => {
    over = true
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  const until = performance.now() + START_MS
  while (!over && performance.now() < until) {
    if (await isUp(running)) return stop
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
  await stop()
  const { code, message } = errorFromResponse(said.trim().split('\n').at(-1) ?? '')
  throw new GuardError('GATEWAY_NOT_RUNNING', `The gateway did not come up: ${message} (${code})`)
}

const isUp = (running: ClientsOptions['running']): Promise<boolean> =>
  running().then(
    () => true,
    () => false,
  )
