import { type Gateway, GuardError } from 'guard-gateway/core'
import { connectionFault, post, upstreamAddress } from '#lib/network'
import { type Connections, type UpstreamAddress, type UpstreamClient, upstreamClientKind } from '#lib/upstream-client'
import { Delivery } from './delivery.ts'
import { type ExportResult, exportResult, type Signal } from './export-result.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import type { RequestBody } from './request-bodies.ts'

/** Sends batches to a receiver of OTLP over HTTP. */
export class HttpDelivery extends Delivery {
  readonly #signal: Signal
  readonly #address: Address
  readonly #connections: Connections
  readonly #stop = new AbortController()

  /** Throws TypeError for an invalid address. */
  constructor(gateway: Gateway, client: UpstreamClient, options: ReceiverOptions, signal: Signal) {
    super(
      gateway,
      signal.parts.replace(/^./, (letter) => letter.toUpperCase()),
    )
    this.#signal = signal
    this.#address = addressOf(options, signal.default_path)
    this.#connections = client.connect(this.#address.upstream)
  }

  get display(): string {
    return this.#address.display
  }

  protected async attempt({ bytes, count }: RequestBody): Promise<ExportResult> {
    const { path, headers, timeout_ms } = this.#address
    const length = ['content-length', String(bytes.length)]
    const request = { method: 'POST', path, headers: [...headers, ...length], body: bytes }
    try {
      const answer = await post(this.#connections, request, timeout_ms, this.#stop.signal)
      return exportResult(answer, count, this.#signal, this.gateway.clock)
    } catch (error) {
      // an encoding error cannot be retried
      const kind = error instanceof TypeError ? 'rejected' : 'retryable'
      return { kind, wait_ms: null, error: `The request failed: ${reasonOf(error)}` }
    }
  }

  protected close(): void {
    this.#stop.abort()
    this.#connections.close()
  }
}

const reasonOf = (error: unknown): string => {
  const { what, fix } = connectionFault(error as NodeJS.ErrnoException)
  return `${what}.${fix === undefined ? '' : ` ${fix}`}`
}

/** Throws MISSING_PLUGIN without an HTTP client. */
export const clientOf = (gateway: Gateway): UpstreamClient => {
  const [client] = gateway.registry(upstreamClientKind)
  if (client !== undefined) return client
  throw new GuardError(
    'MISSING_PLUGIN',
    'Plugin "otlp-push" needs one that speaks HTTP, for example upstream-clients/undici.',
  )
}

const DEFAULT_TIMEOUT_MS = 10_000

/** Address of a receiver, and its display form. */
interface Address {
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
const addressOf = (options: ReceiverOptions, default_path: string): Address => {
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
