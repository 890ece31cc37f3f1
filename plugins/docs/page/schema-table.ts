import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { Body, Parameter, Schema } from './description.ts'
import { rowsOf, type SchemaRow } from './schema-rows.ts'
import { formsOf, limitText, typeText } from './schema-words.ts'

/** Parameters of a path, a query or the headers. */
export const parameterTable = (parameters: readonly Parameter[]): Html =>
  table(
    'Parameter',
    parameters.map(({ name, in: place, required = false, description, schema = {} }) =>
      row(
        { name, required, schema: { ...schema, ...(description === undefined ? {} : { description }) } },
        place === 'path' ? '' : place,
      ),
    ),
  )

/** What a body holds, by media type; types of one form stand together. */
export const bodyTables = ({ content = {} }: Body): readonly Html[] => {
  const types = Map.groupBy(Object.entries(content), ([, { schema }]) => JSON.stringify(schema ?? {}))
  return [...types.values()].map((alike) => {
    const [[, { schema = {} }] = ['', {}]] = alike
    return html`<p class="quiet">${alike.map(([type]) => type).join(', ')}</p>${schemaTables(schema)}`
  })
}

/** Several objects that a value may be stand each for itself. */
const schemaTables = (schema: Schema): readonly Html[] => {
  const forms = formsOf(schema)
  const objects = forms.filter(({ properties }) => properties !== undefined)
  if (objects.length < 2) return [schemaTable(schema)]
  return forms.map((form, at) => html`${at > 0 && html`<p class="quiet">or</p>`}${schemaTable(form)}`)
}

const schemaTable = (schema: Schema): Html => {
  const rows = rowsOf(schema)
  const [first] = rows
  // a value without members is told in a line
  if (first?.name === '')
    return html`<p><code>${typeText(schema)}</code> ${limitText(schema)} ${schema.description}</p>`
  return table(
    'Member',
    rows.map((one) => row(one)),
  )
}

const table = (what: string, rows: readonly Html[]): Html =>
  html`<table class="list stacks api"><thead><tr><th scope="col">${what}</th><th scope="col">Type</th><th scope="col" class="free">Meaning and limits</th></tr></thead><tbody>
${rows}</tbody></table>`

/** A longer name may go on in a second line. */
const ONE_LINE_CHARS = 40

const row = ({ name, required, schema }: SchemaRow, place = ''): Html =>
  html`<tr><th scope="row"><code${name.length <= ONE_LINE_CHARS && raw` class="status"`}>${name}</code>${place !== '' && html` <span class="quiet">${place}</span>`}</th><td><code>${typeText(schema)}</code>${required && html` <span class="status">needed</span>`}</td><td>${schema.description} <span class="quiet">${limitText(schema)}</span></td></tr>
`
