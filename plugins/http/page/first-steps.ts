import { html } from 'guard-gateway/lib/html'
import type { Panel } from 'guard-gateway/lib/page'
import type { HttpServerState } from '../http-server-state.ts'

/** How a first request is sent, as long as none is on record. */
export const firstStepsPanel = (state: HttpServerState): Panel => ({
  id: 'http/first-steps',
  order: 10,
  render: async () => {
    const { storage, calledAs } = state.gateway
    if (storage.has('calls') && (await storage.find('calls', { limit: 1 })).rows.length > 0) return undefined
    const commands = [
      ['Start an agent through the gateway', `${calledAs.here} run -- claude`],
      ['Let a scenario run, which needs no provider', `${calledAs.here} playground run exact-loop`],
      ['Send a request by hand', curl(`${state.scheme}://${nameOf(state.server.host)}:${state.port}`, calledAs.here)],
    ] as const
    return html`<h2>No request has come by yet</h2>
${commands.map(
  ([what, command]) =>
    html`<p>${what} <button class="plain" data-copy="${command}">Copy</button></p><pre>${command}</pre>`,
)}
<p>Or open the <a href="/playground">Playground</a>, where each rule shows what it does.</p>`
  },
})

/** How this machine asks an address for itself. */
const nameOf = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

const curl = (url: string, guard: string): string =>
  `curl ${url}/v1/chat/completions \\
  -H "authorization: Bearer $(${guard} key print)" \\
  -H "content-type: application/json" \\
  -d '{"model": "MODEL", "messages": [{"role": "user", "content": "Hello"}]}'`
