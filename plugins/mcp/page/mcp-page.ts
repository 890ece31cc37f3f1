import type { Gateway } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { faultList, type Html, html, instantMark, raw } from '#lib/html'
import type { Ask, Page } from '#lib/page'
import { loginCommand } from '../login/login-texts.ts'
import type { LoginView } from '../login/schemas.ts'
import type { BundleView } from '../management/bundle-schemas.ts'
import type { ServersView, ServerView } from '../management/server-schemas.ts'
import { serversView } from '../servers/servers-view.ts'
import { decidedSection } from './answered-approvals.ts'
import { decisionsSection } from './decisions.ts'
import { draftUrl } from './draft-page.ts'
import { shortHash } from './marks.ts'
import { pendingApprovals, pendingSection } from './pending-approvals.ts'
import type { PageParts } from './types.ts'

/** What waits for a person, the servers with their tools, the policy, and what was decided. */
export const mcpPage = (parts: PageParts): Page => ({
  id: 'mcp',
  path: '/mcp',
  nav: { label: 'MCP', order: 20, key: 'm', count: async () => (await pendingApprovals(parts.mcp)).length },
  render: async (ask) => ({ title: 'MCP', main: await mainOf(parts, ask) }),
})

const mainOf = async (parts: PageParts, ask: Ask): Promise<Html> => {
  const [view, waiting] = await Promise.all([serversView(parts.mcp), pendingApprovals(parts.mcp)])
  const unused = view.policy === null && waiting.length === 0
  return html`<div data-live="*"><h1>MCP</h1>
${faultList(ask.refused?.faults ?? [])}
${unused ? unusedText(parts.mcp.gateway) : html`${policyLine(ask, view)}${await pendingSection(parts, ask, waiting)}`}
${await decidedSection(parts.mcp, ask)}
${await serversSection(parts, ask, view)}${bundlesSection(view)}
${await decisionsSection(parts.mcp, ask, view)}</div>`
}

const FOR_A_CLIENT = 'mcp run --server-id files -- npx -y @modelcontextprotocol/server-filesystem .'

const unusedText = ({ calledAs }: Gateway): Html => {
  const command = `${calledAs.anywhere} ${FOR_A_CLIENT}`
  return html`<div class="empty"><p>No MCP server is configured. Name one in <code>guard-config.yml</code>, or give your client this command in place of the server's own. Without <code>--policy</code> every call asks a person here.</p>
<pre>${command}</pre> <button class="plain" data-copy="${command}">Copy</button></div>`
}

const policyLine = ({ now }: Ask, { policy }: ServersView): Html => {
  if (policy === null) return html``
  const { file, version, mode, loaded_at, error } = policy
  return html`<p>Policy ${file === null ? html`<span class="warning">none: every call asks a person</span>` : html`<code>${file}</code>`} · <span title="${version}">${version.slice(0, 8)}</span> · ${mode} · loaded ${instantMark(Date.parse(loaded_at), now)}</p>
${error !== null && html`<p class="unwell" role="alert">The file as it stands now cannot be used, the policy before it stays in force. ${error}</p>`}`
}

/** Several servers behind one address: which, under which names, and what keeps something from being served. */
const bundlesSection = ({ bundles }: ServersView): Html => {
  if (bundles.length === 0) return html``
  return html`<h2 id="bundles">Several servers at one address</h2>
<table class="list rows"><thead><tr><th scope="col">Address</th><th scope="col" class="free">Servers</th><th scope="col">Open sessions</th></tr></thead><tbody>${bundles.map(
    (bundle) =>
      html`<tr id="bundle-${bundle.id}"><th scope="row"><code>${bundle.path}</code></th><td><p>${serverList(bundle)}</p>${collisionList(bundle)}</td><td>${bundle.sessions}</td></tr>
`,
  )}</tbody></table>`
}

const serverList = ({ servers }: BundleView): Html =>
  html`${servers.map(
    ({ id, prefix, reason }, at) =>
      html`${at > 0 && ', '}<a href="#server-${id}">${id}</a>${prefix !== '' && html` <span class="quiet">${prefix}…</span>`}${reason !== null && html` <span class="error">${reason}</span>`}`,
  )}`

const collisionList = ({ collisions }: BundleView): Html =>
  collisions.length === 0
    ? html``
    : html`<ul class="findings">${collisions.map(({ text }) => html`<li class="warning"><span aria-hidden="true">⚠</span> ${text}</li>`)}</ul>`

type Tool = ServerView['tools'][number]

/** By server and tool: the definition that is trusted, null where none is. */
type Trusted = ReadonlyMap<string, string | null>

/** The servers behind the proxy: what they are, what they offer, and which definitions wait for a person. */
const serversSection = async (parts: PageParts, ask: Ask, { servers }: ServersView): Promise<Html> => {
  if (servers.length === 0) return html``
  const { storage } = parts.mcp.gateway
  const waiting = servers.flatMap(({ id, tools }) => tools.filter(needsTrust).map(({ name }) => [id, name] as const))
  const rows = await Promise.all(waiting.map((key) => storage.get('mcp_tools', key)))
  const trusted: Trusted = new Map(
    rows.flatMap((row) => (row === undefined ? [] : [[`${row.server_id}\0${row.tool}`, row.fingerprint]])),
  )
  return html`<h2 id="servers">Servers</h2>${servers.map((server) => serverPart(parts, ask, server, trusted))}`
}

const needsTrust = ({ pin }: Tool): boolean => pin === 'new' || pin === 'changed'

const statuses = {
  ok: ['ok', 'ok'],
  failing: ['error', 'failing'],
  unknown: ['quiet', 'not asked yet'],
} as const

const serverPart = (parts: PageParts, ask: Ask, server: ServerView, trusted: Trusted): Html => {
  const { now } = ask
  const { id, name, transport, target, status, protocol_version, server_info, fingerprint, tools } = server
  const [kind, word] = statuses[status]
  const waiting = tools.filter(needsTrust)
  const known = [
    transport,
    server_info !== null && `${server_info.name} ${server_info.version ?? ''}`.trim(),
    protocol_version,
    usedBy(server),
  ].filter((part) => part !== false && part !== null)
  return html`<section class="server" id="server-${id}" aria-label="Server ${id}">
<div class="head"><h3>${name}${name !== id && html` <span class="quiet">${id}</span>`}</h3><p class="${kind}">${word}</p><p>${known.map((part, at) => html`${at > 0 && ' · '}${part}`)}</p>${fingerprint !== null && html`<p>fingerprint ${shortHash(fingerprint)}</p>`}${server.last_seen_at !== null && html`<p class="quiet">last seen ${instantMark(Date.parse(server.last_seen_at), now)}</p>`}</div>
${target !== null && html`<p><code class="quiet">${target}</code></p>`}
${server.last_error !== null && html`<p class="error">${server.last_error}</p>`}
${loginLines(server, now)}
${waiting.length > 0 && pinForm(parts, ask, id, waiting, trusted)}
${tools.length === 0 ? html`<p class="quiet">Its tools are known once a client has listed them.</p>` : html`<details id="tools-${id}"><summary>${tools.length} tool${tools.length === 1 ? '' : 's'}: ${effectCounts(tools)}</summary>${toolTable(tools)}</details><p><a href="${draftUrl(id)}">Draft a policy</a> <span class="quiet">from its tools and the calls on record</span></p>`}
</section>`
}

/** Sessions, and of a server that is started here the processes that run for them: one of an idle session is ended. */
const usedBy = ({ sessions, processes }: ServerView): string => {
  const open = `${sessions} open session${sessions === 1 ? '' : 's'}`
  return processes === null ? open : `${open}, ${processes} running process${processes === 1 ? '' : 'es'}`
}

const effectCounts = (tools: readonly Tool[]): string => {
  const counts = new Map<string, number>()
  for (const { effect } of tools) counts.set(effect, (counts.get(effect) ?? 0) + 1)
  return [...counts].map(([effect, count]) => `${count} ${effectWords[effect] ?? effect}`).join(', ')
}

const effectWords: Readonly<Record<string, string>> = {
  allow: 'allowed',
  deny: 'denied',
  confirm: 'asked about',
  depends: 'judged by their arguments',
}

const effectColours: Readonly<Record<string, string>> = { allow: 'ok', deny: 'error', confirm: 'warning' }

const toolTable = (tools: readonly Tool[]): Html =>
  html`<table class="list rows"><thead><tr><th scope="col" class="free">Tool</th><th scope="col">Calls are</th><th scope="col">Definition</th></tr></thead><tbody>${tools.map(
    ({ name, effect, hidden, fingerprint, pin }) =>
      html`<tr><th scope="row">${name}</th><td><span class="${effectColours[effect] ?? 'quiet'}">${effectWords[effect]}</span>${hidden && html` <span class="quiet">and hidden</span>`}</td><td>${fingerprint !== null && shortHash(fingerprint)} ${pin !== 'known' && html`<span class="${pin === 'off' ? 'quiet' : 'warning'}">${pin === 'off' ? 'not pinned' : pin}</span>`}</td></tr>
`,
  )}</tbody></table>`

/** By it a choice stays with the definition that was examined, whatever comes or goes beside it or in its place. */
const definitionId = (server_id: string, { name, fingerprint }: Tool): string =>
  `definition-${server_id}-${fingerprint ?? name.toWellFormed()}`

/** The definitions that are not trusted yet, each with a check box, and the button that trusts the selected ones. */
const pinForm = (
  { approver }: PageParts,
  { refused, params }: Ask,
  id: string,
  tools: readonly Tool[],
  trusted: Trusted,
): Html => {
  const again = refused?.form === 'mcp/pins' && params.id === id ? refused : undefined
  const chosen = again?.fields.getAll('tools') ?? []
  const seen = again?.fields.getAll('seen') ?? []
  return html`<form class="pins" method="post" autocomplete="off" action="/ui/mcp/servers/${encodeURIComponent(id)}/pins"><input type="hidden" name="return_to" value="/mcp">
<p class="warning"><span aria-hidden="true">⚠</span> ${tools.length === 1 ? 'One tool is' : `${tools.length} tools are`} not as trusted. Calls wait until a person has looked at what the server says of them.</p>
<ul class="findings"${again !== undefined && html` id="field-tools" tabindex="-1"`}>${tools.map((tool) => {
    const { name, pin, fingerprint, difference } = tool
    const isChosen = chosen.includes(name) && (fingerprint === null || seen.includes(`${fingerprint} ${name}`))
    return html`<li id="${definitionId(id, tool)}" data-gone="changed or trusted elsewhere"><label><input type="checkbox" name="tools" value="${name}"${isChosen ? raw` checked` : ''}> ${name}</label>${fingerprint !== null && html`<input type="hidden" name="seen" value="${fingerprint} ${name}">`} ${pin === 'new' ? 'is new' : html`has changed: trusted ${hashOr(trusted.get(`${id}\0${name}`))}`}, is now ${hashOr(fingerprint)}${difference !== null && html`<details><summary>What is other</summary><pre>${difference.join('\n')}</pre></details>`}</li>`
  })}</ul>
<p class="filters">${approverField(approver, again?.faults)}<button>Trust the chosen definitions</button></p></form>`
}

const hashOr = (hash: string | null | undefined): Html => (hash ? shortHash(hash) : html`none`)

/** The logins at a server, each with the command that somebody must run, if there is one. */
const loginLines = ({ id, logins }: ServerView, now: number): Html | false =>
  logins !== null &&
  html`${logins.length === 0 && html`<p class="quiet">Each agent logs in for itself: <code>${loginCommand({ server_id: id, agent_id: '' })} --agent …</code></p>`}${logins.map((login) => loginLine(id, login, now))}`

const loginLine = (server_id: string, login: LoginView, now: number): Html => {
  const { agent_id, state, reason, issuer, wanted, expires_at, renewable } = login
  const whose = agent_id === null ? '' : ` of ${agent_id}`
  const command = html`<code>${loginCommand({ server_id, agent_id: agent_id ?? '' })}</code>`
  if (state === 'needed') return html`<p class="warning">Nobody has logged in. Run ${command}</p>`
  if (state === 'ended') return html`<p class="warning">The login${whose} has ended: ${reason} Run ${command}</p>`
  const until =
    expires_at !== null && html`, ${renewable ? 'renewed' : 'over'} ${instantMark(Date.parse(expires_at), now)}`
  return html`<p class="quiet">Logged in${whose} at ${issuer}${until}${state === 'wants_more' && html`. <span class="warning">The server wants more rights (${wanted.join(' ')}): run ${command}</span>`}</p>`
}
