import type { Gateway } from 'guard-gateway/core'
import { type Html, html, instantMark } from 'guard-gateway/lib/html'
import type { PolicyVersionRow } from '../tables.ts'
import { differences } from './difference.ts'

const VERSIONS = 20

/** The versions of a policy, newest first, with what each changed; a button puts one into the form. */
export const historySection = async (
  gateway: Gateway,
  { now }: { readonly now: number },
  project_id: string,
): Promise<Html> => {
  const { rows } = await gateway.storage.find('policy_versions', { where: { project_id }, limit: VERSIONS + 1 })
  if (rows.length === 0) return html``
  return html`<h2>Versions</h2>
<table class="list rows stacks"><thead><tr><th scope="col">Version</th><th scope="col">Saved</th><th scope="col" class="free">Changed</th><th scope="col"><span class="hidden-label">Act</span></th></tr></thead><tbody>
${rows.slice(0, VERSIONS).map(
  (row, at) => html`<tr id="version-${row.version}"><td>${row.version}</td><td>${instantMark(row.updated_at, now)}</td>
<td>${changeText(row, rows[at + 1])}</td><td>${at === 0 ? html`<span class="quiet">in force</span>` : html`<button class="plain" form="policy" name="intent" value="restore:${row.version}">Put into the form</button>`}</td></tr>
`,
)}</tbody></table>
${rows.length > VERSIONS && html`<p class="quiet">The newest ${VERSIONS}.</p>`}`
}

const changeText = (row: PolicyVersionRow, before: PolicyVersionRow | undefined): string => {
  if (before === undefined) return row.version === 1 ? `${row.rules.length} rules` : ''
  return differences(before, row).join('; ') || 'nothing'
}
