import { createInterface } from 'node:readline/promises'
import { GuardError } from 'guard-gateway/core'
import { readJson } from 'guard-gateway/lib/json'
import { columnLines, hint, showInBrowser, terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import { mcpErrors } from '../error-codes.ts'
import { type CommandContext, getText, postText, printAnswer } from '../management/command-context.ts'
import type { ServersView } from '../management/server-schemas.ts'
import { REDIRECT } from './redirect-address.ts'
import { type Listening, listenForRedirect } from './redirect-listener.ts'
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
  const wanted = new URL(known.redirect_uri ?? REDIRECT)
  await using listening = options.browser === false ? undefined : await listenForRedirect(wanted)
  const redirect_uri = listening?.redirect_uri ?? elsewhere(wanted)
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
const elsewhere = (wanted: URL): string => {
  if (wanted.port === '') wanted.port = '1'
  return wanted.href
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
  const said = must
    ? 'The browser ends at an address that it cannot open. Paste that address here:'
    : 'The browser comes back by itself. If it is on another machine, paste the address that it ends at here:'
  hint(said, input, io)
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
