import { GuardError, isShape } from 'guard-gateway/core'

/** The gateway that a command is meant for. */
export interface Place {
  /** Base address: `http://127.0.0.1:8787`. */
  readonly address: string
  /** Empty where nobody has written a configuration. */
  readonly gateway_key: string
  /** The configuration file that both come from. */
  readonly config: string
}

/** How long a gateway has to say that it is there, in milliseconds; that nobody listens is known at once. */
const PROBE_MS = 3_000

/** Whether the gateway runs. Throws UNAUTHORIZED where one answers that has another key: it is not the one that was meant. */
export const reached = async (place: Place): Promise<boolean> => {
  if ((await whoAnswers(place.address)) !== 'gateway') return false
  await checkKey(place)
  return true
}

/** The address of the gateway that runs, for what only one that runs can do; `instead` says what else helps. Throws GATEWAY_NOT_RUNNING and UNAUTHORIZED. */
export const running = async (place: Place, instead = ''): Promise<string> => {
  const { address } = place
  const who = await whoAnswers(address)
  if (who === 'other')
    throw new GuardError(
      'GATEWAY_NOT_RUNNING',
      `Another program answers at ${address}, no gateway. Stop it, or choose another server.port.`,
    )
  if (who === 'nobody')
    throw new GuardError(
      'GATEWAY_NOT_RUNNING',
      `No gateway answers at ${address}. Start it with "guard gateway run"${instead}.`,
    )
  await checkKey(place)
  return address
}

const whoAnswers = async (address: string): Promise<'gateway' | 'other' | 'nobody'> => {
  const signal = AbortSignal.timeout(PROBE_MS)
  const answer = await fetch(`${address}/api/health`, { signal }).catch(isHttpFault)
  if (answer === undefined) return 'nobody'
  if (answer === 'http') return 'other'
  const health: unknown = await answer.json().catch(() => undefined)
  return isShape(health) && Array.isArray(health.plugins) ? 'gateway' : 'other'
}

/** What answers, but not as HTTP wants it, is a program too. */
const isHttpFault = (error: unknown): 'http' | undefined => {
  const { cause } = error as Error
  return cause instanceof Error && cause.name === 'HTTPParserError' ? 'http' : undefined
}

/** Shows the key with a report of no spans, which keeps nothing and asks no upstream. */
const checkKey = async ({ address, gateway_key, config }: Place): Promise<void> => {
  if (gateway_key === '') return
  const headers = { 'x-guard-key': gateway_key, 'content-type': 'application/json' }
  const answer = await fetch(`${address}/v1/traces`, { method: 'POST', headers, body: '{}' })
  await answer.body?.cancel()
  if (answer.status !== 401) return
  throw new GuardError(
    'UNAUTHORIZED',
    `The gateway at ${address} does not accept the gateway_key of ${config}. Restart it with this file, or name the file that it was started with: --config <file>.`,
  )
}
