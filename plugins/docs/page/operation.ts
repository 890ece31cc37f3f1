import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Page } from 'guard-gateway/lib/page'
import { type Description, type LocatedOperation, type Operation, operationsOf } from './description.ts'
import { exampleCommand } from './example.ts'
import { type GuardCommand, guardCommandOf } from './guard-command.ts'
import { requestForm } from './request-form.ts'
import { bodyTables } from './schema-table.ts'

/** Page of one operation: a form that sends it, its command, and its fields. Throws NOT_FOUND. */
export const operationPage = (gateway: Gateway, describe: () => Description): Page => ({
  id: 'docs/operation',
  path: '/docs/:operation',
  render: async ({ params, origin, query }) => {
    const found = operationsOf(describe()).find(({ id }) => id === params.operation)
    if (found === undefined)
      throw new GuardError('NOT_FOUND', `No operation is called "${gateway.redact.text(params.operation ?? '')}".`)
    const keyCommand = `${gateway.calledAs.here} key print`
    const guardCommand = guardCommandOf(found, gateway.calledAs.here)
    const command = exampleCommand(found, { origin, keyCommand, values: query })
    const form = requestForm(
      found,
      { values: query, keyCommand, guardCommand },
      commandPart(found, command, guardCommand),
    )
    return { title: `${found.method} ${found.path} · API`, main: mainOf(found, form) }
  },
})

const mainOf = ({ method, path, operation }: LocatedOperation, form: Html): Html => {
  const { summary, description, security, requestBody } = operation
  return html`<p><a href="/docs">API</a> · ${operation.tags?.[0]}</p>
<h1><code>${method} ${path}</code></h1>
<p>${summary}.${security !== undefined && ' Requires a key.'}</p>
${description !== undefined && html`<p>${description}</p>`}
${form}
${requestBody !== undefined && html`<h2>Fields of the body</h2>${bodyTables(requestBody)}`}
${responseSections(operation)}`
}

/** The request as a command. Script offers further kinds, and puts typed keys into the command on demand. */
const commandPart = ({ operation }: LocatedOperation, command: string, guardCommand: GuardCommand | undefined): Html =>
  html`<p class="buttons"><label data-scripted hidden>As <select data-request="as"><option>curl</option><option>fetch</option>${guardCommand !== undefined && html`<option>guard</option>`}</select></label>${hasKey(operation) && html`<label data-scripted hidden><input type="checkbox" data-request="keys">with the typed keys</label>`}<button type="button" class="plain" data-copy="${command}" data-request="copy">Copy</button>${/\{\w+\}/.test(command) && html`<span class="quiet" data-request="braces">Fill in the values in braces.</span>`}</p>
<pre data-request="command">${command}</pre>`

const hasKey = ({ security, parameters = [] }: Operation): boolean =>
  security !== undefined || parameters.some(({ name, in: location }) => location === 'header' && name.endsWith('-key'))

/** Responses; statuses with equal responses share a section. */
const responseSections = ({ responses }: Operation): Html => html`<h2>Responses</h2>
${[...Map.groupBy(Object.entries(responses), ([, body]) => JSON.stringify(body)).values()].map((equal) => {
  const [[, body = {}] = ['', {}]] = equal
  const statuses = equal.map(([status]) => (status === 'default' ? 'Default' : status)).join(', ')
  return html`<h3>${statuses} <span class="quiet">${body.description === 'Default Response' ? '' : body.description}</span></h3>${bodyTables(body)}`
})}`
