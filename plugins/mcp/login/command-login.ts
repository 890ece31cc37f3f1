import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline/promises'
import { GuardError } from 'guard-gateway/core'
import { html } from '#lib/html'
import { readJson } from '#lib/json'
import { columnLines, hint, showInBrowser, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { mcpErrors } from '../error-codes.ts'
import { type CommandContext, getText, postText, printAnswer } from '../management/command-context.ts'
import type { ServersView } from '../management/server-schemas.ts'
import { REDIRECT } from './redirect-address.ts'
import type { BeginAnswer, FinishAnswer, LoginAnswer, LoginView, LogoutAnswer } from './schemas.ts'

/** As long as the gateway waits for it. */
const WAIT_MS = 15 * 60_000

/** Logs in at a server: opens the browser, waits for it to come back, and keeps what it brings. Without a server it lists the logins. */
export const login = async (context: CommandContext): Promise<number> => {
  const { args, options } = context.input
  const [server_id] = args
  if (server_id === undefined) return listLogins(context)
  const agent = options.agent === undefined ? {} : { agent_id: String(options.agent) }
  const path = `/servers/${encodeURIComponent(server_id)}/login`
  const query = new URLSearchParams(agent)
  const known = readJson(await getText(context, query.size === 0 ? path : `${path}?${query}`)) as LoginAnswer
  const redirect = new URL(known.redirect_uri ?? REDIRECT)
  await using listening = options.browser === false ? undefined : await listenForRedirect(redirect)
  const redirect_uri = listening?.redirect_uri ?? elsewhere(redirect)
  const body = { redirect_uri, ...agent }
  const { authorization_url } = readJson(await postText(context, path, body)) as BeginAnswer
  context.io.err.write(`Log in here:\n${authorization_url}\n`)
  if (listening !== undefined) showInBrowser(authorization_url, context.io)
  const finish = (redirected: string) => postText(context, `${path}/finish`, { redirected })
  const answer = await finished(context, listening, authorization_url, finish)
  printAnswer<FinishAnswer>(answer, context, ({ login: done }) => [`logged in  ${server_id}  ${stateText(done)}`])
  return 0
}

/** A browser on another machine finds nobody there, and shows the address. */
const elsewhere = (redirect: URL): string => {
  if (redirect.port === '') redirect.port = '1'
  return redirect.href
}

/** The end of a login, by whichever comes first: the browser, or an address that is pasted. */
const finished = async (
  context: CommandContext,
  listening: Listening | undefined,
  authorization_url: string,
  finish: (redirected: string) => Promise<string>,
): Promise<string> => {
  const state = new URL(authorization_url).searchParams.get('state') ?? ''
  const stop = new AbortController()
  const late = setTimeout(() => stop.abort(), WAIT_MS)
  try {
    const ways = [pasted(context, listening === undefined, stop.signal).then(async (text) => finish(text))]
    if (listening !== undefined) ways.push(listening.redirected(state, finish))
    return await Promise.race([...ways, tooLate(stop.signal)])
  } finally {
    clearTimeout(late)
    stop.abort()
  }
}

const tooLate = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const over = () => reject(new GuardError(mcpErrors.MCP_LOGIN_FAILED, 'Nobody logged in within 15 minutes.'))
    signal.addEventListener('abort', over, { once: true })
  })

/** An address that somebody types or pastes; never, where nothing can be asked. `must`: there is no other way. */
const pasted = async ({ io, input }: CommandContext, must: boolean, signal: AbortSignal): Promise<string> => {
  const isTerminal = io.in !== undefined && 'isTTY' in io.in && io.in.isTTY === true
  if (io.in === undefined || !(must || isTerminal)) return new Promise(() => {})
  const asks = createInterface({ input: io.in, output: io.err, terminal: false })
  signal.addEventListener('abort', () => asks.close(), { once: true })
  const prompt = must
    ? 'The browser ends at an address that it cannot open. Paste that address here:'
    : 'The browser comes back by itself. If it is on another machine, paste the address that it ends at here:'
  hint(prompt, input, io)
  try {
    for await (const line of asks) if (line.trim() !== '' && !signal.aborted) return line.trim()
    if (must) throw new GuardError('USAGE', 'The input ended without an address.')
    return await new Promise(() => {})
  } finally {
    asks.close()
  }
}

/** Ends a login. */
export const logout = async (context: CommandContext): Promise<number> => {
  const [server_id = ''] = context.input.args
  const { agent } = context.input.options
  const body = agent === undefined ? {} : { agent_id: String(agent) }
  const answer = await postText(context, `/servers/${encodeURIComponent(server_id)}/logout`, body)
  printAnswer<LogoutAnswer>(answer, context, ({ ended, revoked }) => {
    if (!ended) return ['there was no login']
    return [revoked ? 'logged out' : 'logged out here; the authorization server was not told']
  })
  return 0
}

const listLogins = async (context: CommandContext): Promise<number> => {
  printAnswer<ServersView>(await getText(context, '/servers'), context, ({ servers }) => {
    const rows = servers.flatMap(({ id, logins }) =>
      (logins ?? []).map((one) => [id, one.agent_id ?? '', one.state, terminalLine(stateText(one))]),
    )
    if (rows.length === 0)
      hint('No server has logins: see mcp.servers.<id>.login in the configuration.', context.input, context.io)
    const width = terminalWidth(context.io.out)
    return rows.length === 0
      ? []
      : columnLines([['server', 'agent', 'state', ''], ...rows], new Set(), { width, spare: [], free: new Map() })
  })
  return 0
}

/** What there is to know about a login, on one line. */
const stateText = ({ state, reason, issuer, wanted, expires_at, renewable }: LoginView): string => {
  if (state === 'needed') return 'nobody has logged in'
  if (state === 'ended') return reason ?? ''
  const until = expires_at === null ? '' : renewable ? 'renewed by itself' : `until ${expires_at}`
  const more = state === 'wants_more' ? `the server wants more: ${wanted.join(' ')}` : ''
  return [`at ${issuer}`, until, more].filter((part) => part !== '').join(', ')
}

const { createServer } = process.getBuiltinModule('node:http')

/** Somebody who waits for a browser to come back. */
interface Listening extends AsyncDisposable {
  /** Where it is to come back to. */
  readonly redirect_uri: string
  /** What `finish` makes of the first address with this state; the browser is shown how it went. */
  redirected(state: string, finish: (address: string) => Promise<string>): Promise<string>
}

/** Listens where browsers come back to; on another port where that one is in use. */
const listenForRedirect = async (redirect: URL): Promise<Listening> => {
  const server = createServer({ maxHeaderSize: 32_768, requestTimeout: 10_000 })
  const hostname = redirect.hostname.replace(/^\[(.*)\]$/, '$1')
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname
  const listen = (port: number) => once(server.listen(port, host), 'listening')
  await listen(Number(redirect.port)).catch(() => listen(0))
  const own = new URL(redirect)
  own.port = String((server.address() as AddressInfo).port)
  return {
    redirect_uri: own.href,
    redirected: (state, finish) =>
      new Promise((resolve, reject) => {
        server.on('request', (request: IncomingMessage, response: ServerResponse) => {
          const came = addressOf(request, own)
          // other programs, and pages of other sites, may ask here, too
          if (came?.searchParams.get('state') !== state) return void answer(response, 404, 'There is nothing here.')
          finish(came.href).then(
            (done) => {
              answer(response, 200, 'You are logged in. You can close this page.', () => resolve(done))
            },
            (error: unknown) => {
              answer(response, 400, (error as Error).message, () => reject(error))
            },
          )
        })
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The address that was asked for; undefined for another path, method or host. */
const addressOf = ({ method, url = '', headers }: IncomingMessage, own: URL): URL | undefined => {
  if (method !== 'GET' || headers.host?.toLowerCase() !== own.host || !url.startsWith('/')) return undefined
  const address = URL.parse(own.origin + url)
  return address?.pathname === own.pathname ? address : undefined
}

const answer = (response: ServerResponse, status: number, text: string, sent: () => void = () => {}): void => {
  const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Guard Gateway</title><h1>Guard Gateway</h1><p>${text}</p></html>`
  if (response.closed) sent()
  else response.once('close', sent)
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
    .end(String(page))
}
