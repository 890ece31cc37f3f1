import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { GuardError } from 'guard-gateway/core'
import { readJson } from '#lib/json'

/** The time within which the process on the port must identify itself, in milliseconds. A gateway may load its routes first. */
const TIMEOUT_MS = 5_000

/** Makes sure that the address can be listened on. Throws PORT_TAKEN, saying which gateway answers there if one does. */
export const checkPort = async (host: string, port: number): Promise<void> => {
  if (port === 0) return
  try {
    await listenOnce(host, port)
  } catch (cause) {
    throw await listenError(cause, host, port)
  }
}

/** Explains why the server cannot listen. */
export const listenError = async (cause: unknown, host: string, port: number): Promise<GuardError> => {
  const { code } = cause as NodeJS.ErrnoException
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (code !== 'EADDRINUSE')
    return new GuardError('INVALID_CONFIG', `The gateway cannot listen on ${address}: ${code ?? String(cause)}.`, {
      cause,
    })
  const version = await gatewayVersion(address)
  const holder =
    version === undefined ? 'another program uses it' : `a Guard Gateway ${version} is running there already`
  const way =
    version === undefined
      ? 'Stop it, or choose another port with --port'
      : 'Use that one, or start a second one with --port and --data'
  return new GuardError('PORT_TAKEN', `${address} is taken: ${holder}. ${way}.`, { cause })
}

const listenOnce = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port }, () => server.close(() => resolve()))
  })

/** The version of the gateway at this address; undefined if none responds. Both are tried at once: what says nothing keeps a person waiting. */
const gatewayVersion = async (address: string): Promise<string | undefined> => {
  const [plain, secure] = await Promise.all([versionIn(() => overHttp(address)), versionIn(() => overTls(address))])
  return plain ?? secure
}

const overHttp = async (address: string): Promise<string> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  return (await fetch(`http://${address}/api/health`, { signal, redirect: 'error' })).text()
}

/** The answer is only shown, so whose certificate it is does not matter. */
const overTls = async (address: string): Promise<string> => {
  const { get } = process.getBuiltinModule('node:https')
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  get(`https://${address}/api/health`, { rejectUnauthorized: false, signal, agent: false }, resolve).on('error', reject)
  return text(await promise)
}

const versionIn = async (ask: () => Promise<string>): Promise<string | undefined> => {
  try {
    const body = readJson(await ask()) as { readonly version?: unknown } | null
    return typeof body?.version === 'string' ? body.version : undefined
  } catch {
    return undefined // no answer, or none of ours: it is some other program
  }
}
