import type { FastifySchema } from 'fastify'
import type { Gateway, Plugin } from 'guard-gateway/core'
import { Type } from 'guard-gateway/lib/json'
import { guidePageKind } from 'guard-gateway/lib/page'
import { callMetrics } from './calls.ts'
import { partMetrics } from './parts.ts'
import { processMetrics } from './process.ts'
import { exposition } from './samples.ts'
import { upstreamMetrics } from './upstreams.ts'
import { webSocketMetrics } from './websockets.ts'

/** Counts what happens and tells it at `GET /metrics` in the text form of Prometheus: no session, agent, key or content. */
export const metrics = (): Plugin => ({
  name: 'metrics',
  requires: ['http'],
  apply(gateway: Gateway) {
    const all = [
      ...callMetrics(gateway),
      ...partMetrics(gateway),
      ...upstreamMetrics(gateway),
      ...processMetrics(gateway),
      ...webSocketMetrics(gateway),
    ]
    gateway.registry(guidePageKind).add({
      id: 'metric-names',
      title: 'Metrics by name',
      text: () =>
        `What \`GET /metrics\` tells. A metric that has counted nothing is left out there.\n\n| Metric | Type | Meaning |\n| --- | --- | --- |\n${all.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`).join('\n')}`,
    })
    gateway.hooks.http.tap('metrics', (app) => {
      app.get('/metrics', { schema: described }, (_request, reply) =>
        reply.type('text/plain; version=0.0.4; charset=utf-8').send(exposition(all)),
      )
    })
  },
})

const described: FastifySchema & { readonly summary: string; readonly tags: readonly string[] } = {
  summary: 'Metrics in the text form of Prometheus',
  tags: ['health'],
  response: { 200: { description: 'Version 0.0.4.', content: { 'text/plain': { schema: Type.String() } } } },
}
