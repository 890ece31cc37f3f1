import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Page } from 'guard-gateway/lib/page'
import { type Description, type Operation, operationsOf, type Placed } from './description.ts'
import { type Callers, exampleCommand } from './example.ts'
import { bodyTables, parameterTable } from './schema-table.ts'

/** One operation: how it is asked for, what it takes, what it answers. Throws NOT_FOUND. */
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

const mainOf = (placed: Placed, callers: Callers): Html => {
  const { method, path, operation } = placed
  const { summary, description, security, parameters = [], requestBody } = operation
  const command = exampleCommand(placed, callers)
  return html`<p><a href="/docs">API</a> · ${operation.tags?.[0]}</p>
<h1><code>${method} ${path}</code></h1>
<p>${summary}.${security !== undefined && ' It asks for a key.'}</p>
${description !== undefined && html`<p>${description}</p>`}
<pre>${command}</pre><p><button class="plain" data-copy="${command}">Copy</button>${/\{\w+\}/.test(command) && html` <span class="quiet">What stands in braces is to be filled in.</span>`}</p>
${parameters.length > 0 && html`<h2>Parameters</h2>${parameterTable(parameters)}`}
${requestBody !== undefined && html`<h2>Body${requestBody.required !== true && html` <span class="quiet">may be absent</span>`}</h2>${requestBody.description !== undefined && html`<p>${requestBody.description}</p>`}${bodyTables(requestBody)}`}
${answers(operation)}`
}

/** What comes back; statuses that answer alike stand together. */
const answers = ({ responses }: Operation): Html => html`<h2>Answers</h2>
${[...Map.groupBy(Object.entries(responses), ([, body]) => JSON.stringify(body)).values()].map((alike) => {
  const [[, body = {}] = ['', {}]] = alike
  const statuses = alike.map(([status]) => (status === 'default' ? 'Otherwise' : status)).join(', ')
  return html`<h3>${statuses} <span class="quiet">${body.description === 'Default Response' ? '' : body.description}</span></h3>${bodyTables(body)}`
})}`
