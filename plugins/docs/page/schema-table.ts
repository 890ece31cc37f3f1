import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { Body, Schema } from './description.ts'
import { rowsOf, type SchemaRow } from './schema-rows.ts'
import { alternativesOf, constraintText, typeText } from './schema-words.ts'

/** Tables of a body by media type; media types with equal schemas share a table. */
export const bodyTables = ({ content = {} }: Body): readonly Html[] => {
  const types = Map.groupBy(Object.entries(content), ([, { schema }]) => JSON.stringify(schema ?? {}))
  return [...types.values()].map((equal) => {
    const [[, { schema = {} }] = ['', {}]] = equal
    return html`<p class="quiet">${equal.map(([type]) => type).join(', ')}</p>${schemaTables(schema)}`
  })
}

/** Each alternative with members has its own table. */
const schemaTables = (schema: Schema): readonly Html[] => {
  const alternatives = alternativesOf(schema)
  const objects = alternatives.filter(({ properties }) => properties !== undefined)
  if (objects.length < 2) return [schemaTable(schema)]
  return alternatives.map(
    (alternative, at) => html`${at > 0 && html`<p class="quiet">or</p>`}${schemaTable(alternative)}`,
  )
}

const schemaTable = (schema: Schema): Html => {
  const rows = rowsOf(schema)
  const [first] = rows
  // a value without members takes one line
  if (first?.name === '')
    return html`<p><code>${typeText(schema)}</code> ${constraintText(schema)} ${schema.description}</p>`
  return table('Field', rows.map(row))
}

const table = (heading: string, rows: readonly Html[]): Html =>
  html`<table class="list stacks api"><thead><tr><th scope="col">${heading}</th><th scope="col">Type</th><th scope="col" class="free">Description and limits</th></tr></thead><tbody>
${rows}</tbody></table>`

/** A longer name wraps. */
const ONE_LINE_CHARS = 40

const row = ({ name, required, schema }: SchemaRow): Html =>
  html`<tr><th scope="row"><code${name.length <= ONE_LINE_CHARS && raw` class="status"`}>${name}</code></th><td><code>${typeText(schema)}</code>${required && html` <span class="status">required</span>`}</td><td>${schema.description} <span class="quiet">${constraintText(schema)}</span></td></tr>
`
