import type { Gateway } from 'guard-gateway/core'
import { faultList, type Html, html, instantMark } from 'guard-gateway/lib/html'
import type { Ask, Page } from 'guard-gateway/lib/page'
import type { ServersView } from '../management/server-schemas.ts'
import { serversView } from '../servers/servers-view.ts'
import { decidedSection } from './answered-approvals.ts'
import { bundlesSection } from './bundles.ts'
import { decisionsSection } from './decisions.ts'
import type { PageParts } from './index.ts'
import { pendingApprovals, pendingSection } from './pending-approvals.ts'
import { serversSection } from './servers.ts'

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
