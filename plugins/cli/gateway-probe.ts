import { GuardError } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'

/** The gateway that a command is meant for. */
export interface GatewayLocation {
  /** Base address: `http://127.0.0.1:8787`. */
  readonly address: string
  /** Empty where nobody has written a configuration. */
  readonly gateway_key: string
  /** The configuration file that both come from. */
  readonly config: string
  /** Where the gateway that has the database said that it would answer: a flag may have sent it to another port. */
  readonly elsewhere?: () => Promise<string | undefined>
  /** Makes this process trust the certificate of the gateway. */
  readonly trust?: () => Promise<void>
}

/** How long a gateway has to say that it is there, in milliseconds; that nobody listens is known at once. */
const PROBE_MS = 5_000

/** What a probe of an address found: the configured gateway, one with another key, another program, nothing, or one whose certificate is not trusted. */
type ProbeResult = 'meant' | 'stranger' | 'other' | 'nobody' | 'untrusted'

/** The address of the gateway, if it runs. Throws UNAUTHORIZED where one answers that has another key: it is not the one that was meant. */
export const findGateway = async (place: GatewayLocation): Promise<string | undefined> => {
  const found = await find(place)
  if (found.answering === 'stranger') throw otherGatewayError(place)
  if (found.answering === 'untrusted') throw untrustedError(place)
  return found.address
}

/** The address of the gateway that runs, for what only one that runs can do; `instead` says what else helps. Throws GATEWAY_NOT_RUNNING and UNAUTHORIZED. */
export const requireGateway = async (place: GatewayLocation, instead = ''): Promise<string> => {
  const { answering, address } = await find(place)
  if (address !== undefined) return address
  if (answering === 'stranger') throw otherGatewayError(place)
  if (answering === 'untrusted') throw untrustedError(place)
  if (answering === 'other')
    throw new GuardError(
      'GATEWAY_NOT_RUNNING',
      `Another program answers at ${place.address}, no gateway. Stop it, or choose another server.port.`,
    )
  throw new GuardError(
    'GATEWAY_NOT_RUNNING',
    `No gateway answers at ${place.address}. Start it with "guard gateway run"${instead}.`,
  )
}

/** Looks where the configuration says, then where the gateway that has the database is. */
const find = async (
  place: GatewayLocation,
): Promise<{ readonly answering: ProbeResult; readonly address?: string }> => {
  const { address } = place
  await place.trust?.()
  const answering = await answeringAt(address, place)
  if (answering === 'meant') return { answering, address }
  const elsewhere = await place.elsewhere?.()
  if (elsewhere === undefined || elsewhere === address) return { answering }
  return (await answeringAt(elsewhere, place)) === 'meant' ? { answering: 'meant', address: elsewhere } : { answering }
}

const answeringAt = async (address: string, { gateway_key }: GatewayLocation): Promise<ProbeResult> => {
  const who = await whoAnswers(address)
  if (who !== 'gateway') return who
  return (await acceptsKey(address, gateway_key)) ? 'meant' : 'stranger'
}

const whoAnswers = async (address: string): Promise<'gateway' | 'other' | 'nobody' | 'untrusted'> => {
  const signal = AbortSignal.timeout(PROBE_MS)
  const answer = await fetch(`${address}/api/health`, { signal }).catch(listenerOf)
  if (answer === undefined) return 'nobody'
  if (typeof answer === 'string') return answer
  const health: unknown = await answer.json().catch(() => undefined)
  return isJsonObject(health) && Array.isArray(health.plugins) ? 'gateway' : 'other'
}

/** Who listens, as far as a failed request tells: what speaks no HTTP, or TLS of another kind, is another program. */
const listenerOf = (error: unknown): 'other' | 'untrusted' | undefined => {
  const { cause } = error as Error
  if (!(cause instanceof Error)) return undefined
  const { code = '' } = cause as NodeJS.ErrnoException
  if (/CERT|^ERR_TLS_/.test(code) || code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE') return 'untrusted'
  return cause.name === 'HTTPParserError' || code.startsWith('ERR_SSL_') ? 'other' : undefined
}

/** Checks the key with an empty OTLP report, which stores nothing and asks no upstream. */
const acceptsKey = async (address: string, gateway_key: string): Promise<boolean> => {
  if (gateway_key === '') return true
  const headers = { 'x-guard-key': gateway_key, 'content-type': 'application/json' }
  const answer = await fetch(`${address}/v1/traces`, { method: 'POST', headers, body: '{}' })
  await answer.body?.cancel()
  return answer.status !== 401
}

const untrustedError = ({ address, config }: GatewayLocation): GuardError =>
  new GuardError(
    'GATEWAY_NOT_RUNNING',
    `What answers at ${address} has a certificate that is not trusted here. Name the authority that signed it as server.tls.ca in ${config}, or start this command with NODE_EXTRA_CA_CERTS=<file>; if it has expired, renew it.`,
  )

const otherGatewayError = ({ address, config }: GatewayLocation): GuardError =>
  new GuardError(
    'UNAUTHORIZED',
    `The gateway at ${address} does not accept the gateway_key of ${config}. Restart it with this file, or name the file that it was started with: --config <file>.`,
  )
