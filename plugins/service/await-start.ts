import { setTimeout } from 'node:timers/promises'
import { GuardError } from 'guard-gateway/core'
import { terminalText } from 'guard-gateway/lib/text'
import { serviceErrors } from './error-codes.ts'
import { isReady } from './probe.ts'
import type { ServiceManager } from './service-manager.ts'
import type { ServiceOptions } from './setting.ts'

/** A start that moves a large journal takes some seconds. */
const START_MS = 30_000
const POLL_MS = 100

/** Resolves when the service answers. Throws SERVICE_FAILED with what it said, where it ends before, or takes too long. */
export const awaitStart = async (
  manager: ServiceManager,
  address: string,
  { start_ms = START_MS }: Pick<ServiceOptions, 'start_ms'>,
): Promise<void> => {
  const end = performance.now() + start_ms
  while (performance.now() < end) {
    const { running, ended, exit_code } = await manager.state()
    if (running && (await isReady(address))) return
    if (ended || (!running && exit_code !== null)) break
    await setTimeout(POLL_MS)
  }
  const { running, exit_code } = await manager.state()
  const what = running ? `does not answer at ${address}` : `ended${exit_code === null ? '' : ` with code ${exit_code}`}`
  const said = reasonIn(await manager.lastLines())
  throw new GuardError(
    serviceErrors.SERVICE_FAILED,
    `The service was installed and ${what}${said === undefined ? '' : `: ${said}`}. Its log: ${manager.log}`,
  )
}

/** The last error in lines of a log. */
const reasonIn = (lines: string): string | undefined => {
  for (const line of lines.split('\n').reverse()) {
    try {
      const { error, message } = JSON.parse(line) as { error?: { message?: unknown }; message?: unknown }
      const text = error?.message ?? message
      if (typeof text === 'string') return terminalText(text).replace(/\.$/, '')
    } catch {
      // a line of something else
    }
  }
  return undefined
}
