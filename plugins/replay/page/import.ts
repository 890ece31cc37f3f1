import type { Gateway } from 'guard-gateway/core'
import { exportFormatKind, importFormatKind } from 'guard-gateway/lib/export-format'
import { bytesText } from 'guard-gateway/lib/format'
import { choice, faultList, type Html, html, raw } from 'guard-gateway/lib/html'
import type { Ask, Page, Refusal } from 'guard-gateway/lib/page'

/** Page of the import form. */
export const importPage = (gateway: Gateway, max_bytes: number): Page => ({
  id: 'replay/import',
  path: '/replay/import',
  render: async (ask) => ({ title: 'Import · Replay', main: mainOf(gateway, max_bytes, ask) }),
})

const conflicts = [
  ['remap', 'is imported under a new id'],
  ['skip', 'is left out'],
  ['fail', 'stops the import'],
] as const

const mainOf = (gateway: Gateway, max_bytes: number, { refused }: Ask): Html => {
  const formats = [...gateway.registry(exportFormatKind)].filter(
    ({ read, accepts }) => read !== undefined || accepts !== undefined,
  )
  const others = [...gateway.registry(importFormatKind)].map(({ title }) => title)
  const typed = (name: string): string => refused?.fields.get(name) ?? ''
  return html`<h1>Import runs</h1>
<p>A file that was exported as ${formats.map(({ id }) => id).join(', ')}${others.length > 0 && `, or one of ${others.join(', ')}`}, at most ${bytesText(max_bytes)}. What is secret is hidden before anything is stored.</p>
${refused !== undefined && errorBox(refused)}
<form class="stacked" method="post" action="/ui/runs/import" enctype="multipart/form-data">
<input type="hidden" name="return_to" value="/replay">
<label id="field-on_conflict">A run that is here already${choice('on_conflict', typed('on_conflict') || 'remap', conflicts)}</label>
<label>Project<input id="field-project_id" name="project_id" placeholder="as the file says" value="${typed('project_id')}"${invalidMark(refused, 'project_id')}></label>
<label>File<input id="field-file" type="file" name="file" required${invalidMark(refused, 'file')}></label>
<p><button class="main">Import</button> <a href="/replay">All runs</a></p>
</form>`
}

const invalidMark = (refused: Refusal | undefined, name: string): Html | '' =>
  refused?.faults.some(({ field }) => field === name) === true ? raw` aria-invalid="true"` : ''

/** Errors with their location, and the file name, because browsers do not select the file again. */
const errorBox = ({ fields, faults }: Refusal): Html => {
  const [name, line, path] = ['file_name', 'line', 'path'].map((field) => fields.get(field) ?? '')
  return html`${faultList(faults)}
<dl class="facts">${name !== '' && html`<dt>File</dt><dd><code>${name}</code> <span class="quiet">nothing of it was imported; choose it again when it is corrected</span></dd>`}
${line !== '' && html`<dt>Line</dt><dd>${line}</dd>`}${path !== '' && html`<dt>Path</dt><dd><code>${path}</code></dd>`}</dl>`
}
