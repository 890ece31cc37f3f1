import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Page } from 'guard-gateway/lib/page'
import { type Description, type LocatedOperation, type Operation, operationsOf } from './description.ts'
import { type CommandContext, exampleCommand } from './example.ts'
import { bodyTables, parameterTable } from './schema-table.ts'

/** Page of one operation: request, parameters and responses. Throws NOT_FOUND. */
export const operationPage = (gateway: Gateway, describe: () => Description): Page => ({
  id: 'docs/operation',
  path: '/docs/:operation',
  render: async ({ params, origin }) => {
    const found = operationsOf(describe()).find(({ id }) => id === params.operation)
    if (found === undefined)
      throw new GuardError('NOT_FOUND', `No operation is called "${gateway.redact.text(params.operation ?? '')}".`)
    return {
      title: `${found.method} ${found.path} · API`,
      main: mainOf(found, { origin, guard: gateway.calledAs.here }),
    }
  },
})

const mainOf = (located: LocatedOperation, callers: CommandContext): Html => {
  const { method, path, operation } = located
  const { summary, description, security, parameters = [], requestBody } = operation
  const command = exampleCommand(located, callers)
  return html`<p><a href="/docs">API</a> · ${operation.tags?.[0]}</p>
<h1><code>${method} ${path}</code></h1>
<p>${summary}.${security !== undefined && ' Requires a key.'}</p>
${description !== undefined && html`<p>${description}</p>`}
<pre>${command}</pre><p><button class="plain" data-copy="${command}">Copy</button>${/\{\w+\}/.test(command) && html` <span class="quiet">Fill in the values in braces.</span>`}</p>
${parameters.length > 0 && html`<h2>Parameters</h2>${parameterTable(parameters)}`}
${requestBody !== undefined && html`<h2>Body${requestBody.required !== true && html` <span class="quiet">optional</span>`}</h2>${requestBody.description !== undefined && html`<p>${requestBody.description}</p>`}${bodyTables(requestBody)}`}
${responseSections(operation)}`
}

/** Responses; statuses with equal responses share a section. */
const responseSections = ({ responses }: Operation): Html => html`<h2>Responses</h2>
${[...Map.groupBy(Object.entries(responses), ([, body]) => JSON.stringify(body)).values()].map((equal) => {
  const [[, body = {}] = ['', {}]] = equal
  const statuses = equal.map(([status]) => (status === 'default' ? 'Default' : status)).join(', ')
  return html`<h3>${statuses} <span class="quiet">${body.description === 'Default Response' ? '' : body.description}</span></h3>${bodyTables(body)}`
})}`
