import { bytesText, type Gateway, type Html, html, type Page } from 'guard-gateway/core'

/** The form that imports a file of runs. */
export const importPage = (gateway: Gateway, max_bytes: number): Page => ({
  id: 'replay/import',
  path: '/replay/import',
  render: async () => ({ title: 'Import · Replay', main: form(gateway, max_bytes) }),
})

const form = (gateway: Gateway, max_bytes: number): Html => {
  const formats = [...gateway.exportFormats].filter(({ read, accepts }) => read !== undefined || accepts !== undefined)
  return html`<h1>Import runs</h1>
<p>A file that was exported as ${formats.map(({ id }) => id).join(', ')}, at most ${bytesText(max_bytes)}. What is secret is hidden before anything is stored.</p>
<form class="stacked" method="post" action="/ui/runs/import" enctype="multipart/form-data">
<input type="hidden" name="return_to" value="/replay">
<label>File<input type="file" name="file" required></label>
<label>A run that is here already<select name="on_conflict">
<option value="remap">is imported under a new id</option>
<option value="skip">is left out</option>
<option value="fail">stops the import</option>
</select></label>
<label>Project<input name="project_id" placeholder="as the file says"></label>
<p><button class="main">Import</button> <a href="/replay">All runs</a></p>
</form>`
}
