import { type Gateway, GuardError } from 'guard-gateway/core'
import type { Io } from '#lib/command'
import { onUncaught, thrownStack, thrownText } from '#lib/errors'

/** How long a gateway in an unknown state may drain, in milliseconds. */
const FAULT_DRAIN_MS = 10_000

const signals = { SIGINT: 130, SIGTERM: 143 } as const
type Signal = keyof typeof signals

/** For how long the same signal is the first one again, in milliseconds: a starter passes on what a terminal has sent to both. */
const ECHO_MS = 300

/** As much of a process as waiting for its end needs. */
export type ProcessSignals = Pick<NodeJS.Process, 'on' | 'off' | 'exit' | 'connected' | 'env'>

/**
 * Waits for SIGINT or SIGTERM, then closes the server and resolves to 0; a second signal ends the process at once.
 * npm passes each signal on, on a busy machine seconds later: after npm, the first repetition is that echo whenever it comes.
 * Signals stay caught until the process has ended, so that a late echo does not kill it while it closes its files.
 * The end of a process that has started this one over a channel (`ipc`) counts as a first signal.
 * Uncaught errors are logged; after one that is not of a user's plugin, the server drains, and the result is 1.
 */
export const runUntilStopped = (
  server: { close(): Promise<void> },
  gateway: Gateway,
  io: Io,
  process: ProcessSignals = globalThis.process,
): Promise<number> =>
  new Promise((resolve, reject) => {
    let stopping = false
    let echoes = process.env.npm_lifecycle_event === undefined ? 0 : 1
    let first: { readonly signal: Signal; readonly at: number } | undefined
    let code = 0
    const finish = async () => {
      stopping = true
      try {
        await server.close()
        resolve(code)
      } catch (error) {
        reject(error)
      } finally {
        release()
      }
    }
    const onSignal = (signal: Signal) => {
      const at = gateway.clock.tick()
      if (signal === first?.signal && (echoes > 0 || at - first.at < ECHO_MS)) {
        echoes--
        return
      }
      first ??= { signal, at }
      if (stopping) process.exit(signals[signal])
      else void finish()
    }
    const onFault = (error: unknown) => {
      io.err.write(`${faultLine(error, gateway)}\n`)
      code = 1
      drain ??= setTimeout(() => resolve(code), FAULT_DRAIN_MS)
      if (!stopping) void finish()
    }
    let drain: NodeJS.Timeout | undefined
    const onAlone = () => {
      if (!stopping) void finish()
    }
    const onInterrupt = () => onSignal('SIGINT')
    const onTerminate = () => onSignal('SIGTERM')
    const release = () => {
      clearTimeout(drain)
      process.off('disconnect', onAlone)
      unheard()
    }
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate).on('disconnect', onAlone)
    const unheard = onUncaught(gateway, onFault, process)
    // the channel may have closed before anybody listened; without one this is undefined
    if (process.connected === false) onAlone()
  })

/** One JSON line of the log about an uncaught error; no credential. */
const faultLine = (error: unknown, gateway: Gateway): string =>
  JSON.stringify({
    time: new Date(gateway.clock.now()).toISOString(),
    level: 'fatal',
    code: error instanceof GuardError ? error.code : 'INTERNAL',
    message: gateway.redact.text(thrownText(error)),
    stack: gateway.redact.text(thrownStack(error)),
  })
