import { upstreamAddress } from 'guard-gateway/lib/network'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import type { ReceiverOptions } from './receiver-options.ts'

const DEFAULT_TIMEOUT_MS = 10_000

/** Address of a receiver, and its display form. */
export interface Address {
  readonly upstream: UpstreamAddress
  /** Includes the query. */
  readonly path: string
  /** Name, value, name, value …, without content-length. */
  readonly headers: readonly string[]
  readonly timeout_ms: number
  /** Without the query, which may contain a key. */
  readonly display: string
}

/** Parses the address of a receiver; `default_path` is for one without a path. Throws TypeError for an invalid address or proxy. */
export const addressOf = (options: ReceiverOptions, default_path: string): Address => {
  const { url, headers = {}, compression = 'gzip', timeout_ms = DEFAULT_TIMEOUT_MS } = options
  const address = new URL(url)
  const { host, origin, pathname, search } = address
  const path = pathname === '/' ? default_path : pathname
  return {
    upstream: upstreamAddress(address, { connect_ms: timeout_ms, idle_ms: timeout_ms }, options),
    path: path + search,
    headers: ['host', host, ...FORM, ...ENCODING[compression], ...Object.entries(headers).flat()],
    timeout_ms,
    display: origin + path,
  }
}

const FORM = ['content-type', 'application/json', 'accept-encoding', 'identity'] as const
const ENCODING = { gzip: ['content-encoding', 'gzip'], none: [] } as const
