import type {
  ProxyAddress,
  UpstreamAddress,
  UpstreamListener,
  UpstreamResponse,
} from 'guard-gateway/lib/upstream-client'
import { isTunnelled, requestPrefix } from './first-hop.ts'
import { refusingProxy, unreachableProxy } from './proxy-fault.ts'

/** Wraps the listener of a request in absolute form: errors of the proxy, such as a missing login, are not reported as errors of the upstream. */
export const withProxyErrors = (address: UpstreamAddress, listener: UpstreamListener): UpstreamListener =>
  address.proxy === undefined || isTunnelled(address)
    ? listener
    : new ProxyErrorListener(address.proxy, requestPrefix(address), listener)

/** Nothing but the way to the proxy can end so. */
const NOT_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EPROTO|ERR_SSL_|ERR_TLS_|UNABLE_TO_|CERT_|DEPTH_ZERO_|SELF_SIGNED_)/

class ProxyErrorListener implements UpstreamListener {
  readonly #proxy: ProxyAddress
  readonly #place: string
  readonly #listener: UpstreamListener

  constructor(proxy: ProxyAddress, place: string, listener: UpstreamListener) {
    this.#proxy = proxy
    this.#place = place
    this.#listener = listener
  }

  answered(response: UpstreamResponse): void {
    if (response.status !== 407) return void this.#listener.answered(response)
    this.#listener.failed(refusingProxy(this.#proxy, 407, this.#place))
    if (!(response.body instanceof Uint8Array)) response.body.destroy()
  }

  failed(error: NodeJS.ErrnoException): void {
    const { code = '' } = error
    this.#listener.failed(NOT_CONNECTED.test(code) ? unreachableProxy(this.#proxy, error) : error)
  }

  over(): void {
    this.#listener.over()
  }

  sent(): void {
    this.#listener.sent?.()
  }
}
