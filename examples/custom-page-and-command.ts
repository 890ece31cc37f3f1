import { type Gateway, type Plugin, type Storage, table } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { html } from 'guard-gateway/lib/html'
import { pageKind } from 'guard-gateway/lib/page'

declare module 'guard-gateway/core' {
  interface Tables {
    model_use: { model: string; requests: number; tokens: number }
  }
}

const modelUse = table({
  id: 'model_use',
  key: ['model'],
  columns: { model: 'text', requests: 'integer', tokens: 'integer' },
})

/** Requests and tokens per model. They are counted when requests end, shown at /models-used and printed by `guard models`. */
export const models: Plugin = {
  name: 'models',
  requires: ['sessions'],
  apply(gateway) {
    gateway.tables.add(modelUse)

    gateway.hooks.settle.tapPromise('models', ({ call, usage }) =>
      count(gateway.storage, call.envelope.model, usage.total_tokens),
    )

    gateway.registry(pageKind).add({
      id: 'models',
      path: '/models-used',
      nav: { label: 'Models', order: 80, key: 'l' },
      async render() {
        const rows = await used(gateway.storage)
        return {
          title: 'Models',
          main: html`<h1>Models</h1><table><thead><tr><th>Model</th><th>Requests</th><th>Tokens</th></tr></thead><tbody>${rows.map(
            ({ model, requests, tokens }) => html`<tr><td>${model}</td><td>${requests}</td><td>${tokens}</td></tr>`,
          )}</tbody></table>`,
        }
      },
    })

    gateway.registry(commandKind).add({
      id: 'models',
      summary: 'what each model was used for',
      options: { '--limit <number>': 'so many models; 20 if absent' },
      example: 'guard models --limit 5',
      run: async ({ options }, { out }) => {
        const rows = await reading(gateway, used)
        const shown = rows.slice(0, Number(options.limit ?? 20))
        for (const { model, requests, tokens } of shown) out.write(`${model}  ${requests} requests  ${tokens} tokens\n`)
        return 0
      },
    })
  },
}

/** Reads and writes the row exclusively, so that concurrent requests lose no count. */
const count = (storage: Storage, model: string, tokens: number): Promise<void> =>
  storage.exclusive('model_use', model, async (read) => {
    const before = (await read.get('model_use', model)) ?? { requests: 0, tokens: 0 }
    const put = { model, requests: before.requests + 1, tokens: before.tokens + tokens }
    return [undefined, [{ table: 'model_use', put }]]
  })

/** Sorts at most a hundred rows, most tokens first. */
const used = async (storage: Storage) => {
  const { rows } = await storage.find('model_use', { limit: 100 })
  return rows.toSorted((one, other) => other.tokens - one.tokens)
}

/** A command opens and closes its own gateway. `beside` allows another running gateway on the same storage. */
const reading = async <T>(gateway: Gateway, work: (storage: Storage) => Promise<T>): Promise<T> => {
  await gateway.open({ beside: true })
  try {
    return await work(gateway.storage)
  } finally {
    await gateway.close()
  }
}
