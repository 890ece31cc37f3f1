import type { UpstreamOptions } from 'guard-gateway/plugins/upstream'
import type { UpstreamHealth } from '../../../plugins/upstream/health.ts'
import type { Started } from '../http/kit.ts'

/** An upstream of every style, and what is different about it. */
export const anUpstream = (name: string, base_url: string, more: Partial<UpstreamOptions> = {}): UpstreamOptions => ({
  name,
  base_url,
  styles: ['chat_completions', 'messages', 'responses'],
  ...more,
})

/** What health says of the upstreams. */
export const healthIn = ({ gateway }: Started): readonly UpstreamHealth[] =>
  (gateway.health.get('upstreams')?.() ?? []) as readonly UpstreamHealth[]
