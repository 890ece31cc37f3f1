import { createSecureContext, type SecureContext, type Server } from 'node:tls'
import { type Clock, errorBody, type Gateway, GuardError } from 'guard-gateway/core'
import type { Log } from '../log.ts'
import { fingerprintOf, readCredentials, type TlsCredentials, type TlsFiles } from './credentials.ts'

/** How often the files are looked at. A watcher misses changes in network folders, bind mounts and secrets of Kubernetes. */
const POLL_MS = 1_000
/** How long a client has for the handshake. */
const HANDSHAKE_MS = 10_000

export interface TlsListenerOptions {
  readonly files: TlsFiles
  readonly log: () => Log | undefined
}

/** The certificate of a listener. It is read again when its files are renewed; what cannot be used changes nothing. */
export class TlsListener {
  readonly #gateway: Gateway
  readonly #files: TlsFiles
  readonly #log: () => Log | undefined
  #credentials: TlsCredentials
  #context: SecureContext
  #server: Server | undefined
  #seen: string
  #isRepeated = false
  #error: unknown
  #timer: NodeJS.Timeout | undefined

  /** Reads the files. Throws INVALID_CONFIG as `readCredentials` does. */
  static async open(gateway: Gateway, options: TlsListenerOptions): Promise<TlsListener> {
    const seen = await fingerprintOf(options.files)
    return new TlsListener(gateway, options, await readCredentials(options.files), seen)
  }

  private constructor(gateway: Gateway, { files, log }: TlsListenerOptions, credentials: TlsCredentials, seen: string) {
    this.#gateway = gateway
    this.#files = files
    this.#log = log
    this.#credentials = credentials
    this.#context = contextOf(credentials)
    this.#seen = seen
  }

  /** What a server of `node:https` takes. */
  serverOptions() {
    return {
      ...contextOptions(this.#credentials),
      handshakeTimeout: HANDSHAKE_MS,
      // a listener on localhost has a second server, which is reached only so
      SNICallback: (_name: string, done: (error: null, context: SecureContext) => void) => done(null, this.#context),
    }
  }

  /** Begins to look at the files. */
  watch(server: Server): void {
    this.#server = server
    this.#warnOfDates()
    this.#gateway.health.set('tls', () => this.health())
    this.#timer = setInterval(() => void this.check(), POLL_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  health() {
    const { names, valid_until } = this.#credentials
    const dates = datesOf(this.#credentials, this.#gateway.clock)
    return {
      status: this.#error === undefined ? dates.status : 'refused',
      names,
      expires_at: new Date(valid_until).toISOString(),
      error: this.#error === undefined ? null : errorBody(this.#error),
    }
  }

  /** Reads the files again if they have changed. Never rejects. */
  async check(): Promise<void> {
    const fingerprint = await fingerprintOf(this.#files)
    if (fingerprint === this.#seen && !this.#isRepeated) return
    this.#seen = fingerprint
    try {
      this.#use(await readCredentials(this.#files))
    } catch (error) {
      this.#refuse(error)
    }
  }

  #use(credentials: TlsCredentials): void {
    this.#isRepeated = false
    this.#error = undefined
    this.#credentials = credentials
    this.#context = contextOf(credentials)
    this.#server?.setSecureContext(contextOptions(credentials))
    const until = new Date(credentials.valid_until).toISOString()
    this.#log()?.line('info', { message: `TLS certificate renewed: ${credentials.names}, valid until ${until}` })
    this.#warnOfDates()
  }

  /** Certificate and key are replaced one after the other, so the first look at a pair that does not fit counts for nothing. */
  #refuse(error: unknown): void {
    const isFirst = !this.#isRepeated
    this.#isRepeated = isFirst
    if (isFirst) return
    this.#error = error
    const { message, code } = error instanceof GuardError ? error : new GuardError('INTERNAL', String(error))
    this.#log()?.line('error', { code, message: `${message} The certificate of before is kept.` })
  }

  #warnOfDates(): void {
    const { warning } = datesOf(this.#credentials, this.#gateway.clock)
    if (warning !== undefined) this.#log()?.line('warn', { message: `server.tls.cert: ${this.#files.cert} ${warning}` })
  }
}

const contextOptions = ({ cert, key, passphrase }: TlsCredentials) => ({
  cert,
  key,
  ...(passphrase === undefined ? {} : { passphrase }),
  minVersion: 'TLSv1.2' as const,
})

const contextOf = (credentials: TlsCredentials): SecureContext => createSecureContext(contextOptions(credentials))

const datesOf = ({ valid_from, valid_until }: TlsCredentials, clock: Clock) => {
  const now = clock.now()
  if (now >= valid_until) return { status: 'expired', warning: `expired at ${new Date(valid_until).toISOString()}` }
  if (now < valid_from)
    return { status: 'not_yet_valid', warning: `is valid only from ${new Date(valid_from).toISOString()} on` }
  return { status: 'ok', warning: undefined }
}
